//! Softmax of rows of any length, and its gradient.

use cuda_tiles::prelude::*;

use super::exponentials::exponentials;

/// `y = softmax(x)` along rows. Each block takes `R` rows.
#[kernel(
    threads = 256,
    min_blocks = 3,
    instances(
        <f32, 2, 1024>, <f32, 1, 4096>,
        <f16, 4, 1024>, <f16, 2, 4096>, <f16, 1, 8192>,
        <bf16, 4, 1024>, <bf16, 2, 4096>, <bf16, 1, 8192>,
    )
)]
pub fn softmax_rows<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    if columns == 1 {
        let tile = x.load_masked(NegativeInfinity, (row, 0)).cast::<f32>();
        let powers = (tile - tile.max::<1>()).exp_approximate();
        y.store_masked((powers * (1.0 / powers.sum::<1>())).cast::<T>(), (row, 0));
        return;
    }
    let (maximum, sum) = exponentials(x, *row);
    let scale = 1.0 / sum;
    for column in 0..columns {
        let tile = x.load_masked(NegativeInfinity, (row, column)).cast::<f32>();
        y.store_masked(((tile - maximum).exp_approximate() * scale).cast::<T>(), (row, column));
    }
}

/// `dx = y * (dy - sum(dy * y))` along rows: the gradient of [`softmax_rows`], of its result `y`. Each block takes `R` rows.
#[kernel(
    threads = 256,
    min_blocks = 3,
    instances(
        <f32, 4, 1024>, <f32, 1, 4096>,
        <f16, 4, 1024>, <f16, 1, 4096>,
        <bf16, 4, 1024>, <bf16, 1, 4096>,
    )
)]
pub fn softmax_gradient<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    cx: Cx<B>,
    y: Span<T, (u32, u32)>,
    dy: Span<T, (u32, u32)>,
    dx: SpanMut<T, (u32, u32)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (y, dy) = (y.partition(cx, shape![R, N]), dy.partition(cx, shape![R, N]));
    let dx = dx.partition(cx, shape![R, N]);
    let (row, columns) = (cx.bid::<0>(), y.num_tiles(1));
    let load = |column| {
        let (y, dy) = (y.load_masked(Zero, (row, column)), dy.load_masked(Zero, (row, column)));
        (y.cast::<f32>(), dy.cast::<f32>())
    };
    let (first, dfirst) = load(0);
    let mut sum = (first * dfirst).sum::<1>();
    if columns == 1 {
        dx.store_masked((first * (dfirst - sum)).cast::<T>(), (row, 0));
        return;
    }
    for column in 1..columns {
        let (y, dy) = load(column);
        sum += (y * dy).sum::<1>();
    }
    for column in 0..columns {
        let (y, dy) = load(column);
        dx.store_masked((y * (dy - sum)).cast::<T>(), (row, column));
    }
}
