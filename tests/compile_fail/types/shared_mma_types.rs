//! products of `cuda_tiles::element::f16` and `cuda_tiles::element::bf16` are not accumulated in `f32`
//! products of `cuda_tiles::element::f16` and `cuda_tiles::element::f16` are not accumulated in `f64`
//! products of `f32` and `f32` are not accumulated in `f32`

use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::prelude::*;

type Square<'k, T> = SharedTileRef<'k, T, Shape2<16, 16>>;

fn mixed<B: Block>(cx: Cx<B>, a: Square<'_, f16>, b: Square<'_, bf16>) {
    let mut acc = cx.zero_accumulator::<f32>(shape![16, 16]);
    acc.mma(a, b);
}

fn wide<B: Block>(cx: Cx<B>, a: Square<'_, f16>, b: Square<'_, f16>) {
    let mut acc = cx.zero_accumulator::<f64>(shape![16, 16]);
    acc.mma(a, b);
}

fn single<B: Block>(cx: Cx<B>, a: Square<'_, f32>, b: Square<'_, f32>) {
    let mut acc = cx.zero_accumulator::<f32>(shape![16, 16]);
    acc.mma(a, b);
}

fn main() {}
