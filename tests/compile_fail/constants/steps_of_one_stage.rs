//! steps need a ring of at least 2 stages: one is filled while the other is used; of one stage, `receive` the message

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(copy = 32)]
fn steps_of_one_stage(block: Split, x: TileSource<f16, Page>, #[shared] ring: Ring<Staged<f16, Page>, 1>) {
    block.pipeline(ring, x.row(0), |cx, mut receiver| receiver.steps(1).each(|stage| drop(stage.load(cx))));
}

fn main() {}
