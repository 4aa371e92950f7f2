//! mismatched types
//! cannot add `{float}` to `cuda_tiles::stream::Accumulator<f32, (D<16>, D<16>), KernelBlock>`

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(copy = 32)]
fn reads(block: Split, x: TileSource<f16, Page>, y: TileSink<f32, Page>, #[shared] ring: Ring<Staged<f16, Page>, 3>, #[shared] stash: Stash<0>) {
    block.pipeline(ring, x.row(0), move |cx, mut receiver| {
        let mut stash = stash;
        for tile in y.deal(cx, RowMajor) {
            let mut sums = Accumulator::<f32, Page, _>::zero(cx);
            receiver.steps(1).each(|a| sums.mma(a, a));
            tile.store(&mut stash, sums);
            let _ = sums + 1.0;
        }
    });
}

fn main() {}
