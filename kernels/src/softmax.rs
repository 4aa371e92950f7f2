//! Softmax along rows.

use cuda_tiles::prelude::*;

/// Softmax of each row of `N` elements. Each block takes one row.
#[kernel(threads = 512, instances(<1024>, <4096>, <8192>))]
pub fn softmax<B: Block, const N: usize>(cx: Cx<B>, x: Span<f32, (u32, D<N>)>, y: SpanMut<f32, (u32, D<N>)>)
where
    D<N>: Dimension,
{
    softmax_row(cx, x, y);
}

/// As [`softmax`], for 16-bit floats, in `f32` arithmetic.
#[kernel(threads = 256, instances(<f16, 1024>, <f16, 8192>, <bf16, 1024>, <bf16, 8192>))]
pub fn softmax_half<B: Block, T: Number + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, D<N>)>,
    y: SpanMut<T, (u32, D<N>)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    softmax_row(cx, x, y);
}

/// Softmax of each row of any length up to `N`. Each block takes one row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(threads = 512, min_blocks = 3, instances(<1024>, <8192>))]
pub fn softmax_any<B: Block, const N: usize>(cx: Cx<B>, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>)
where
    D<N>: Dimension,
{
    softmax_row_of_any_length::<B, f32, N>(cx, x, y);
}

/// As [`softmax_any`], for 16-bit floats, in `f32` arithmetic.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(threads = 256, vector = 8, instances(<f16, 8192>, <bf16, 8192>))]
pub fn softmax_any_half<B: Block, T: Float + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    softmax_row_of_any_length::<B, T, N>(cx, x, y);
}

/// Softmax of the block's row, of at most `N` elements.
///
/// The hardware's exponential is accurate to six digits. A sum of `f32` is no more accurate.
fn softmax_row_of_any_length<B: Block, T: Float + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    assert!(x.extent(1) as usize <= N, "a row is longer than the kernel's {N} elements");
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let row = (cx.bid::<0>(), 0);
    let t = x.load_masked(NegativeInfinity, row).cast::<f32>();
    let e = (t - t.max::<1>()).exp_approximate();
    y.store_masked((e * (1.0 / e.sum::<1>())).cast::<T>(), row);
}

/// Softmax of the block's row, which is one tile of `N` elements.
fn softmax_row<B: Block, T: Number + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, D<N>)>,
    y: SpanMut<T, (u32, D<N>)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let row = (cx.bid::<0>(), 0);
    let t = x.load(row).cast::<f32>();
    let e = (t - t.max::<1>()).exp();
    y.store((e * (1.0 / e.sum::<1>())).cast::<T>(), row);
}
