//! Normalisation along rows.

use cuda_tiles::prelude::*;

/// Layer normalisation of each row of `N` elements: `y = (x - mean) / sqrt(variance + epsilon) * weight + bias`, in `f32` arithmetic.
///
/// Each block takes one row. It also stores the mean and the reciprocal deviation of the row, because the backward pass needs them.
#[kernel(
    threads = 256,
    min_blocks = 4,
    instances(<f16, 1024>, <f16, 8192>, <bf16, 1024>, <bf16, 8192>, <f32, 1024>)
)]
pub fn layer_norm<B: Block, T: Number + Cast<f32>, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, D<N>), Right, Aligned<16>>,
    weight: Span<T, (D<N>,), Right, Aligned<16>>,
    bias: Span<T, (D<N>,), Right, Aligned<16>>,
    epsilon: f32,
    y: SpanMut<T, (u32, D<N>), Right, Aligned<16>>,
    mean: SpanMut<f32, (u32,)>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let y = y.partition(cx, shape![1, N]);
    let mean = mean.partition(cx, shape![1]);
    let reciprocal_deviation = reciprocal_deviation.partition(cx, shape![1]);
    let row = cx.bid::<0>();
    let t = x.partition(cx, shape![1, N]).load((row, 0)).cast::<f32>();
    let centre = t.sum::<1>() / N as f32;
    let distance = t - centre;
    let scale = ((distance * distance).sum::<1>() / N as f32 + epsilon).rsqrt();
    let weight = weight.partition(cx, shape![N]).load(0).cast::<f32>();
    let bias = bias.partition(cx, shape![N]).load(0).cast::<f32>();
    y.store((distance * scale * weight + bias).cast::<T>(), (row, 0));
    mean.store(centre.reshape(shape![1]), row);
    reciprocal_deviation.store(scale.reshape(shape![1]), row);
}
