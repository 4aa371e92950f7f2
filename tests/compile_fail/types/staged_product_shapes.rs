//! is no factor of shape

use cuda_tiles::prelude::*;
use cuda_tiles::memory::SharedTileRef;

fn inner<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<16, 8>>) {
    let mut sums = Accumulator::<f32, Shape2<16, 8>, _>::zero(cx);
    sums.mma(a, b);
}

fn columns<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<32, 16>>) {
    let mut sums = Accumulator::<f32, Shape2<16, 8>, _>::zero(cx);
    sums.mma(a, b);
}

fn rows<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<32, 8>>) {
    let mut sums = Accumulator::<f32, Shape2<32, 8>, _>::zero(cx);
    sums.mma(a.transposed(), b);
}

fn main() {}
