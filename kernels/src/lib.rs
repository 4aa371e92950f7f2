//! Ready-made kernels on cuda-tiles, compiled to PTX by the builder and for the CPU by cargo.

#![no_std]

use cuda_tiles::prelude::*;

/// Sum of two vectors: `z = x + y`. One block a tile of 4,096 elements.
#[kernel(threads = 256)]
pub fn vector_add(cx: Cx, x: Span<f32, (u32,)>, y: Span<f32, (u32,)>, z: SpanMut<f32, (u32,)>) {
    let tile = shape![4096];
    let (x, y, z) = (x.partition(cx, tile), y.partition(cx, tile), z.partition(cx, tile));
    let i = cx.bid::<0>();
    z.store_masked(x.load_masked(Zero, i) + y.load_masked(Zero, i), i);
}
