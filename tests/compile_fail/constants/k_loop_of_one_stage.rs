//! a k loop needs a ring of at least 2 stages: one is filled while the other is read; with one stage, `wait` for it

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(producer = 32)]
fn k_loop_of_one_stage(roles: WarpRoles, x: TmaLoad<f16, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 1>) {
    roles.pipeline(ring, x.row(0), |cx, mut consumer| consumer.k_loop(1).for_each(|stage| drop(stage.load(cx))));
}

fn main() {}
