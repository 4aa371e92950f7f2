//! cannot be filled by the feeds
//! the feed of a pipeline runs in the copying warp, and can use sources and numbers alone

use cuda_tiles::prelude::*;

type Page = Staged<f16, Shape2<16, 16>>;

#[kernel(copy = 64)]
fn a_ring_without_a_tuple(block: Split, x: TileSource<f16, Shape2<16, 16>>, #[shared] ring: Ring<Page, 3>) {
    block.pipelines(ring, x.row(0), |_, _| ());
}

#[kernel(copy = 64)]
fn a_feed_that_uses_a_view(
    block: Split,
    x: TileSource<f16, Shape2<16, 16>>,
    y: Span<f16, (u32,)>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    let feed = (0..4).map(move |i| (y.extent(0), x.tile(0, i)).1);
    block.pipelines((left, right), (x.row(0), feed), |_, _| ());
}

fn main() {}
