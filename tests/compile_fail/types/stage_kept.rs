//! borrowed data escapes outside of closure
//! cannot move out of `held` because it is borrowed
//! use of moved value: `held`

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(copy = 32)]
fn keeps(block: Split, x: TileSource<f16, Page>, #[shared] ring: Ring<Staged<f16, Page>, 3>) {
    block.pipeline(ring, x.row(0), |cx, mut receiver| {
        let mut kept = None;
        receiver.steps(1).each(|stage| kept = Some(stage));
        let _ = (cx, kept);
    });
}

#[kernel(copy = 32)]
fn reads_late(block: Split, x: TileSource<f16, Page>, #[shared] ring: Ring<Staged<f16, Page>, 3>) {
    block.pipeline(ring, x.row(0), |cx, mut receiver| {
        let held = receiver.receive();
        let stage = held.stages();
        receiver.release(held);
        let _ = stage.load(cx);
    });
}

#[kernel(copy = 32)]
fn releases_twice(block: Split, x: TileSource<f16, Page>, #[shared] ring: Ring<Staged<f16, Page>, 3>) {
    block.pipeline(ring, x.row(0), |cx, mut receiver| {
        let _ = cx;
        let held = receiver.receive();
        receiver.release(held);
        receiver.release(held);
    });
}

fn main() {}
