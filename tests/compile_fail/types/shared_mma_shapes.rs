//! is no operand of shape

use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::prelude::*;

fn inner<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<16, 8>>) {
    let mut acc = cx.zero_accumulator::<f32>(shape![16, 8]);
    acc.mma(a, b);
}

fn columns<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<32, 16>>) {
    let mut acc = cx.zero_accumulator::<f32>(shape![16, 8]);
    acc.mma(a, b);
}

fn rows<B: Block>(cx: Cx<B>, a: SharedTileRef<'_, f16, Shape2<16, 32>>, b: SharedTileRef<'_, f16, Shape2<32, 8>>) {
    let mut acc = cx.zero_accumulator::<f32>(shape![32, 8]);
    acc.mma(a.transposed(), b);
}

fn main() {}
