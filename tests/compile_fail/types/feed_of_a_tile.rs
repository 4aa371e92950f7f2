//! the feed of a pipeline runs in the copying warp, and can use sources and numbers alone

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(copy = 32)]
fn by_view(
    block: Split,
    x: TileSource<f16, Page>,
    order: SpanMut<u32, (u32,)>,
    #[shared] ring: Ring<Staged<f16, Page>, 3>,
) {
    let feed = (0..4).map(move |i| {
        let _ = &order;
        x.tile(i, 0)
    });
    block.pipeline(ring, feed, |cx, mut receiver| {
        receiver.steps(4).each(|stage| _ = stage.load(cx));
    });
}

#[kernel(copy = 32)]
fn by_block(block: Split, x: TileSource<f16, Page>, #[shared] ring: Ring<Staged<f16, Page>, 3>) {
    let row = block.bid::<0>();
    let feed = (0..4).map(move |i| x.tile(*row, i));
    block.pipeline(ring, feed, |cx, mut receiver| {
        receiver.steps(4).each(|stage| _ = stage.load(cx));
    });
}

fn main() {}
