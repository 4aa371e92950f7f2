//! borrowed data escapes outside of closure
//! cannot move out of `guard` because it is borrowed
//! use of moved value: `guard`

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(producer = 32)]
fn keeps(roles: WarpRoles, x: TmaLoad<f16, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 3>) {
    roles.pipeline(ring, x.row(0), |cx, mut consumer| {
        let mut kept = None;
        consumer.k_loop(1).for_each(|stage| kept = Some(stage));
        let _ = (cx, kept);
    });
}

#[kernel(producer = 32)]
fn reads_late(roles: WarpRoles, x: TmaLoad<f16, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 3>) {
    roles.pipeline(ring, x.row(0), |cx, mut consumer| {
        let guard = consumer.wait();
        let stage = guard.tiles();
        consumer.release(guard);
        let _ = stage.load(cx);
    });
}

#[kernel(producer = 32)]
fn releases_twice(roles: WarpRoles, x: TmaLoad<f16, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 3>) {
    roles.pipeline(ring, x.row(0), |cx, mut consumer| {
        let _ = cx;
        let guard = consumer.wait();
        consumer.release(guard);
        consumer.release(guard);
    });
}

fn main() {}
