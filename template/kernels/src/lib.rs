//! Kernels: one source for the GPU and for the CPU.

#![no_std]

use cuda_tiles::prelude::*;

/// Elements of a vector that one block takes.
pub const TILE: usize = 4096;

/// `y = a * x + y` on vectors of any length.
#[kernel(threads = 256)]
pub fn axpy(cx: Cx, a: f32, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
    let (x, y) = (x.partition(cx, shape![TILE]), y.partition(cx, shape![TILE]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i) * a + y.load_masked(Zero, i), i);
}
