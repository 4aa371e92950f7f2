//! each ring of a pipeline has a copying warp: state `copy = 64` for two rings, `copy = 96` for three, or `copy = 128`

use cuda_tiles::prelude::*;

type Page = Staged<f16, Shape2<16, 16>>;

#[kernel(copy = 32)]
fn two_rings_and_one_warp(
    block: Split,
    x: TileSource<f16, Shape2<16, 16>>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    block.pipelines((left, right), (x.row(0), x.row(1)), |cx, receivers| drop((cx, receivers)));
}

fn main() {}
