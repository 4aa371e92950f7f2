//! The gradient of softmax.

use cuda_tiles::prelude::*;

/// The gradient of a softmax along rows of at most `N` elements, from its result `y`: `dx = y (dy - Σ y dy)`. Each block takes one row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(threads = 256, vector = 8, instances(<f32, 8192>, <f16, 8192>, <bf16, 8192>))]
pub fn softmax_gradient<B: Block, T: Float + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    y: Span<T, (u32, u32)>,
    dy: Span<T, (u32, u32)>,
    dx: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    assert!(y.extent(1) as usize <= N, "a row is longer than the kernel's {N} elements");
    let tile = shape![1, N];
    let (y, dy, dx) = (y.partition(cx, tile), dy.partition(cx, tile), dx.partition(cx, tile));
    let row = (cx.bid::<0>(), 0);
    let y = y.load_masked(Zero, row).cast::<f32>();
    let dy = dy.load_masked(Zero, row).cast::<f32>();
    dx.store_masked((y * (dy - (y * dy).sum::<1>())).cast::<T>(), row);
}
