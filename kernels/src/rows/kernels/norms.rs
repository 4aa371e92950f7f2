//! Normalisation of rows of any length.

use cuda_tiles::prelude::*;

/// `y = x * r * weight`, where `r = 1 / sqrt(mean(x²) + epsilon)` of each row: RMS normalisation. Each block takes `R` rows.
///
/// It also stores `r`, because the gradient needs it.
#[kernel(
    threads = 256,
    min_blocks = 3,
    instances(
        <f32, 4, 1024>, <f32, 1, 4096>,
        <f16, 8, 1024>, <f16, 2, 4096>, <f16, 1, 8192>,
        <bf16, 8, 1024>, <bf16, 2, 4096>, <bf16, 1, 8192>,
    )
)]
pub fn rms_norm_rows<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    epsilon: f32,
    y: SpanMut<T, (u32, u32)>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1) as f32;
    let reciprocal_deviation = reciprocal_deviation.partition(cx, shape![R]);
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let weight = weight.partition(cx, shape![N]);
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let load = |column| x.load_masked(Zero, (row, column)).cast::<f32>();
    let weight = |column| weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
    if columns == 1 {
        let (tile, weight) = (load(0), weight(0));
        let scale = ((tile * tile).sum::<1>() / length + epsilon).rsqrt();
        y.store_masked((tile * scale * weight).cast::<T>(), (row, 0));
        reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
        return;
    }
    let mut squares = cx.zeros::<f32>(shape![R, N]);
    for column in 0..columns {
        let tile = load(column);
        squares += tile * tile;
    }
    let scale = (squares.sum::<1>() / length + epsilon).rsqrt();
    for column in 0..columns {
        y.store_masked((load(column) * scale * weight(column)).cast::<T>(), (row, column));
    }
    reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
}

/// `y = (x - mean) * r * weight + bias`, where `r = 1 / sqrt(variance + epsilon)` of each row: layer normalisation. Each block takes `R` rows.
///
/// It also stores mean and `r`, because the gradient needs them.
#[kernel(
    threads = 256,
    min_blocks = 3,
    instances(
        <f32, 2, 1024>, <f32, 1, 4096>,
        <f16, 4, 1024>, <f16, 1, 4096>,
        <bf16, 4, 1024>, <bf16, 1, 4096>,
    )
)]
pub fn layer_norm_rows<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    bias: Span<T, (u32,)>,
    epsilon: f32,
    y: SpanMut<T, (u32, u32)>,
    mean: SpanMut<f32, (u32,)>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1);
    let (mean, reciprocal_deviation) =
        (mean.partition(cx, shape![R]), reciprocal_deviation.partition(cx, shape![R]));
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let (weight, bias) = (weight.partition(cx, shape![N]), bias.partition(cx, shape![N]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let load = |column| x.load_masked(Zero, (row, column)).cast::<f32>();
    let weight = |column| weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
    let bias = |column| bias.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
    // Beyond the end of a row a tile is zero, and its distance from the mean is not.
    let inside = |column: u32| (cx.coordinate::<1>(shape![1, N]) + column * N as u32).lt(length);
    if columns == 1 {
        let tile = load(0);
        let centre = tile.sum::<1>() / length as f32;
        let distance = inside(0).select(tile - centre, 0.0);
        let scale = ((distance * distance).sum::<1>() / length as f32 + epsilon).rsqrt();
        y.store_masked((distance * scale * weight(0) + bias(0)).cast::<T>(), (row, 0));
        mean.store_masked(centre.reshape(shape![R]), row);
        reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
        return;
    }
    // Mean and variance in one pass, from the distances to the mean of the first tile. That is near the mean of the row: the square of what
    // is between them is at most the row's number of tiles times its variance, so that few digits of the difference below cancel.
    let near = load(0).sum::<1>() / N as f32;
    let sums = |column| {
        let distance = inside(column).select(load(column) - near, 0.0);
        (distance, distance * distance).reduce::<1>((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    let (mut sum, mut squares) = sums(0);
    for column in 1..columns {
        let (own, own_squares) = sums(column);
        sum += own;
        squares += own_squares;
    }
    let apart = sum / length as f32;
    let centre = near + apart;
    let variance = (squares / length as f32 - apart * apart).maximum(0.0);
    let scale = (variance + epsilon).rsqrt();
    for column in 0..columns {
        let tile = (load(column) - centre) * scale * weight(column) + bias(column);
        y.store_masked(tile.cast::<T>(), (row, column));
    }
    mean.store_masked(centre.reshape(shape![R]), row);
    reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
}
