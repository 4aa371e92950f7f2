//! Normalisation of rows of any length.

use cuda_tiles::prelude::*;

use super::quarters::Quarters;
use super::{Anywhere, Columns, InVectors, Placement, Rows, RowsMut};

/// `y = x * r * weight`, where `r = 1 / sqrt(mean(x²) + epsilon)` of each row of at most 4 `N` columns: RMS normalisation. Each block takes `R`
/// rows.
///
/// It also stores `r`, because the gradient needs it.
#[kernel(
    threads = 128,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 64, 16>,
        <f32, InVectors, 32, 32>,
        <f32, InVectors, 16, 64>,
        <f32, InVectors, 1, 256> with(threads = 32),
        <f32, InVectors, 1, 1024> with(min_blocks = 8),
        <f32, InVectors, 1, 2048> with(threads = 256),
        <f32, InVectors, 1, 4096> with(threads = 512),
        <f32, Anywhere, 1, 256> with(threads = 32),
        <f16, InVectors, 64, 16> with(vector = 8),
        <f16, InVectors, 32, 32> with(vector = 8),
        <f16, InVectors, 16, 64> with(vector = 8),
        <f16, InVectors, 1, 256> with(threads = 32, vector = 8),
        <f16, InVectors, 1, 1024> with(min_blocks = 8, vector = 8),
        <f16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <f16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <f16, Anywhere, 1, 256> with(threads = 32, vector = 8),
        <bf16, InVectors, 64, 16> with(vector = 8),
        <bf16, InVectors, 32, 32> with(vector = 8),
        <bf16, InVectors, 16, 64> with(vector = 8),
        <bf16, InVectors, 1, 256> with(threads = 32, vector = 8),
        <bf16, InVectors, 1, 1024> with(min_blocks = 8, vector = 8),
        <bf16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <bf16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <bf16, Anywhere, 1, 256> with(threads = 32, vector = 8),
    )
)]
pub fn rms_norm_rows<B: Block, T: Float + Cast<f32>, P: Placement, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    epsilon: f32,
    y: RowsMut<T, P>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1) as f32;
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let reciprocal_deviation = reciprocal_deviation.partition(cx, shape![R]);
    let row = cx.bid::<0>();
    let weight = weight.partition(cx, shape![N]);
    let x = Quarters::of(|k| x.load_masked(Zero, (row, k))).map(|_, x| x.cast::<f32>());
    let squares = x.map(|_, x| x * x).reduce(|a, b| a + b).sum::<1>();
    let scale = (squares / length + epsilon).rsqrt();
    x.map(|k, x| {
        let weight = weight.load_masked(Zero, k).cast::<f32>().expand_dims::<0>();
        y.store_masked((x * scale * weight).cast::<T>(), (row, k));
    });
    reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
}

/// [`rms_norm_rows`] of longer rows. Each block takes a row, in tiles of `N` columns.
#[kernel(
    threads = 512,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 4096>,
        <f32, Anywhere, 4096>,
        <f16, InVectors, 8192> with(vector = 8),
        <f16, Anywhere, 8192> with(vector = 8),
        <bf16, InVectors, 8192> with(vector = 8),
        <bf16, Anywhere, 8192> with(vector = 8),
    )
)]
pub fn rms_norm_long_rows<B: Block, T: Float + Cast<f32>, P: Placement, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    epsilon: f32,
    y: RowsMut<T, P>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1) as f32;
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let weight = weight.partition(cx, shape![N]);
    let reciprocal_deviation = reciprocal_deviation.partition(cx, shape![1]);
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let load = |column| x.load_masked(Zero, (row, column)).cast::<f32>();
    let mut squares = cx.zeros::<f32>(shape![1, N]);
    for column in 0..columns {
        let tile = load(column);
        squares += tile * tile;
    }
    let scale = (squares.sum::<1>() / length + epsilon).rsqrt();
    for column in 0..columns {
        let weight = weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
        y.store_masked((load(column) * scale * weight).cast::<T>(), (row, column));
    }
    reciprocal_deviation.store(scale.reshape(shape![1]), row);
}

/// `y = (x - mean) * r * weight + bias`, where `r = 1 / sqrt(variance + epsilon)` of each row of at most 4 `N` columns: layer normalisation.
/// Each block takes `R` rows.
///
/// It also stores mean and `r`, because the gradient needs them.
#[kernel(
    threads = 128,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 64, 16>,
        <f32, InVectors, 32, 32>,
        <f32, InVectors, 16, 64>,
        <f32, InVectors, 4, 256>,
        <f32, InVectors, 1, 1024>,
        <f32, InVectors, 1, 2048> with(threads = 256),
        <f32, InVectors, 1, 4096> with(threads = 512),
        <f32, Anywhere, 4, 256>,
        <f16, InVectors, 64, 16> with(vector = 8),
        <f16, InVectors, 32, 32> with(vector = 8),
        <f16, InVectors, 16, 64> with(vector = 8),
        <f16, InVectors, 4, 256> with(min_blocks = 8, vector = 8),
        <f16, InVectors, 1, 1024> with(vector = 8),
        <f16, InVectors, 1, 2048> with(vector = 8),
        <f16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <f16, Anywhere, 4, 256> with(vector = 8),
        <bf16, InVectors, 64, 16> with(vector = 8),
        <bf16, InVectors, 32, 32> with(vector = 8),
        <bf16, InVectors, 16, 64> with(vector = 8),
        <bf16, InVectors, 4, 256> with(min_blocks = 8, vector = 8),
        <bf16, InVectors, 1, 1024> with(vector = 8),
        <bf16, InVectors, 1, 2048> with(vector = 8),
        <bf16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <bf16, Anywhere, 4, 256> with(vector = 8),
    )
)]
pub fn layer_norm_rows<B: Block, T: Float + Cast<f32>, P: Placement, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    bias: Columns<T, P>,
    epsilon: f32,
    y: RowsMut<T, P>,
    mean: SpanMut<f32, (u32,)>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1);
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let (weight, bias) = (weight.partition(cx, shape![N]), bias.partition(cx, shape![N]));
    let (mean, reciprocal_deviation) =
        (mean.partition(cx, shape![R]), reciprocal_deviation.partition(cx, shape![R]));
    let row = cx.bid::<0>();
    let x = Quarters::of(|k| x.load_masked(Zero, (row, k))).map(|_, x| x.cast::<f32>());
    let centre = x.reduce(|a, b| a + b).sum::<1>() / length as f32;
    // Beyond the end of a row a tile is zero, and its distance from the mean is not. All columns of a vector are compared at once.
    let vector = cx.coordinate::<1>(shape![1, N]) & !(P::STEP - 1);
    let inside = |k: u32| (vector + k * N as u32).lt(length);
    let distance = x.map(|k, x| inside(k).select(x - centre, 0.0));
    let squares = distance.map(|_, distance| distance * distance).reduce(|a, b| a + b).sum::<1>();
    let scale = (squares / length as f32 + epsilon).rsqrt();
    distance.map(|k, distance| {
        let weight = weight.load_masked(Zero, k).cast::<f32>().expand_dims::<0>();
        let bias = bias.load_masked(Zero, k).cast::<f32>().expand_dims::<0>();
        y.store_masked((distance * scale * weight + bias).cast::<T>(), (row, k));
    });
    mean.store_masked(centre.reshape(shape![R]), row);
    reciprocal_deviation.store_masked(scale.reshape(shape![R]), row);
}

/// [`layer_norm_rows`] of longer rows. Each block takes a row, in tiles of `N` columns.
///
/// Mean and variance take one pass, from the distances to the mean of the first tile. That is near the mean of the row: the square of what
/// is between them is at most the row's number of tiles times its variance, so that few digits of the difference below cancel.
#[kernel(
    threads = 512,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 4096>,
        <f32, Anywhere, 4096>,
        <f16, InVectors, 8192> with(vector = 8),
        <f16, Anywhere, 8192> with(vector = 8),
        <bf16, InVectors, 8192> with(vector = 8),
        <bf16, Anywhere, 8192> with(vector = 8),
    )
)]
pub fn layer_norm_long_rows<B: Block, T: Float + Cast<f32>, P: Placement, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    bias: Columns<T, P>,
    epsilon: f32,
    y: RowsMut<T, P>,
    mean: SpanMut<f32, (u32,)>,
    reciprocal_deviation: SpanMut<f32, (u32,)>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1);
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let (weight, bias) = (weight.partition(cx, shape![N]), bias.partition(cx, shape![N]));
    let (mean, reciprocal_deviation) =
        (mean.partition(cx, shape![1]), reciprocal_deviation.partition(cx, shape![1]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let load = |column| x.load_masked(Zero, (row, column)).cast::<f32>();
    let near = load(0).sum::<1>() / length.min(N as u32) as f32;
    let vector = cx.coordinate::<1>(shape![1, N]) & !(P::STEP - 1);
    let (mut sums, mut squares) = (cx.zeros::<f32>(shape![1, N]), cx.zeros::<f32>(shape![1, N]));
    for column in 0..columns {
        let inside = (vector + column * N as u32).lt(length);
        let distance = inside.select(load(column) - near, 0.0);
        sums += distance;
        squares += distance * distance;
    }
    let (sum, squares) = (sums, squares).reduce::<1>((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let apart = sum / length as f32;
    let centre = near + apart;
    let variance = (squares / length as f32 - apart * apart).maximum(0.0);
    let scale = (variance + epsilon).rsqrt();
    for column in 0..columns {
        let weight = weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
        let bias = bias.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
        y.store_masked(((load(column) - centre) * scale * weight + bias).cast::<T>(), (row, column));
    }
    mean.store(centre.reshape(shape![1]), row);
    reciprocal_deviation.store(scale.reshape(shape![1]), row);
}
