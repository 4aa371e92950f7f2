//! Layer norm and RMS norm of rows of any length up to that of a tile, in `f32` arithmetic, and their gradients.
//!
//! Both are `y = (x - mean) * scale * weight + bias`, where `scale = 1 / sqrt(mean of (x - mean)² + epsilon)`. RMS norm has no bias, and its mean
//! is zero; the constant `CENTRED` tells them apart. A row is loaded once and stays in registers. The gradients compute mean and scale again,
//! which costs less than to store and load them.

use cuda_tiles::prelude::*;

/// Layer normalisation of each row of at most `N` elements. Each block takes one row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(
    threads = 256,
    vector = 8,
    instances(<f32, 2048>, <f16, 2048>, <bf16, 2048>, <f32, 8192>, <f16, 8192>, <bf16, 8192>)
)]
pub fn layer_norm<B: Block, T: Float + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    bias: Span<T, (u32,)>,
    epsilon: f32,
    y: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let y = y.partition(cx, shape![1, N]);
    let row = cx.bid::<0>();
    let (normal, _) = normalised::<B, T, N, true>(cx, x, row, epsilon);
    let weight = weight.partition(cx, shape![N]).load_masked(Zero, 0).cast::<f32>();
    let bias = bias.partition(cx, shape![N]).load_masked(Zero, 0).cast::<f32>();
    y.store_masked((normal * weight + bias).cast::<T>(), (row, 0));
}

/// Normalisation of each row of at most `N` elements by its root mean square. Each block takes one row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(
    threads = 256,
    vector = 8,
    instances(<f32, 2048>, <f16, 2048>, <bf16, 2048>, <f32, 8192>, <f16, 8192>, <bf16, 8192>)
)]
pub fn rms_norm<B: Block, T: Float + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    epsilon: f32,
    y: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let y = y.partition(cx, shape![1, N]);
    let row = cx.bid::<0>();
    let (normal, _) = normalised::<B, T, N, false>(cx, x, row, epsilon);
    let weight = weight.partition(cx, shape![N]).load_masked(Zero, 0).cast::<f32>();
    y.store_masked((normal * weight).cast::<T>(), (row, 0));
}

/// The gradient of a norm by `x`. With `n` the normalised row and `g = dy * weight`: `dx = (g - n mean(g n) - mean(g)) * scale`, the last mean
/// with `CENTRED` alone. Each block takes one row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(
    threads = 256,
    vector = 8,
    instances(
        <f32, 8192, true>, <f16, 8192, true>, <bf16, 8192, true>,
        <f32, 8192, false>, <f16, 8192, false>, <bf16, 8192, false>,
    )
)]
pub fn norm_gradient<B: Block, T: Float + Cast<f32>, const N: usize, const CENTRED: bool>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    dy: Span<T, (u32, u32)>,
    epsilon: f32,
    dx: SpanMut<T, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (dy, dx) = (dy.partition(cx, shape![1, N]), dx.partition(cx, shape![1, N]));
    let (row, share) = (cx.bid::<0>(), 1.0 / x.extent(1) as f32);
    let (normal, scale) = normalised::<B, T, N, CENTRED>(cx, x, row, epsilon);
    let weight = weight.partition(cx, shape![N]).load_masked(Zero, 0).cast::<f32>();
    let g = dy.load_masked(Zero, (row, 0)).cast::<f32>() * weight;
    let along = (g * normal).sum::<ALL>().item() * share;
    let mean = if CENTRED { g.sum::<ALL>().item() * share } else { 0.0 };
    dx.store_masked(((g - normal * along - mean) * scale).cast::<T>(), (row, 0));
}

/// The gradient of a norm by its weight, as a sum for each block: `partial[block] = Σ dy * n` over the rows that the block takes, where `n` is the
/// normalised row.
///
/// # Panics
///
/// If a row has more than `N` elements (on the device: traps).
#[kernel(
    threads = 256,
    vector = 8,
    instances(
        <f32, 8192, true>, <f16, 8192, true>, <bf16, 8192, true>,
        <f32, 8192, false>, <f16, 8192, false>, <bf16, 8192, false>,
    )
)]
pub fn norm_weight_gradient<B: Block, T: Float + Cast<f32>, const N: usize, const CENTRED: bool>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    dy: Span<T, (u32, u32)>,
    epsilon: f32,
    partial: SpanMut<f32, (u32, u32)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (dy, partial) = (dy.partition(cx, shape![1, N]), partial.partition(cx, shape![1, N]));
    let mut sum = cx.zeros::<f32>(shape![1, N]);
    for row in cx.tiles::<0>(x.extent(0)) {
        let (normal, _) = normalised::<B, T, N, CENTRED>(cx, x, row, epsilon);
        sum += dy.load_masked(Zero, (row, 0)).cast::<f32>() * normal;
    }
    partial.store_masked(sum, (cx.bid::<0>(), 0));
}

/// The normalised row, zero behind its end, and its scale.
#[inline(always)]
fn normalised<B: Block, T: Float + Cast<f32>, const N: usize, const CENTRED: bool>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    row: BlockIndex<0>,
    epsilon: f32,
) -> (Tile<f32, Shape2<1, N>, Blocked<B>>, f32)
where
    D<N>: Dimension,
{
    let (length, tile) = (x.extent(1), shape![1, N]);
    assert!(length as usize <= N, "a row is longer than the kernel's {N} elements");
    let mut t = x.partition(cx, tile).load_masked(Zero, (row, 0)).cast::<f32>();
    if CENTRED {
        let mean = t.sum::<ALL>().item() / length as f32;
        t = cx.coordinate::<1>(tile).lt(length).select(t - mean, 0.0);
    }
    let scale = 1.0 / ((t * t).sum::<ALL>().item() / length as f32 + epsilon).sqrt();
    (t * scale, scale)
}
