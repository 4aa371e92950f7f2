//! Softmax of rows of any length, and its gradient.

use cuda_tiles::prelude::*;

use super::exponentials::exponentials;
use super::quarters::Quarters;
use super::{Anywhere, InVectors, Placement, Rows, RowsMut};

/// `y = softmax(x)` along rows of at most 4 `N` columns. Each block takes `R` rows.
#[kernel(
    threads = 128,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 64, 16>,
        <f32, InVectors, 32, 32>,
        <f32, InVectors, 16, 64>,
        <f32, InVectors, 1, 256> with(threads = 32),
        <f32, InVectors, 1, 1024>,
        <f32, InVectors, 1, 2048> with(threads = 256),
        <f32, InVectors, 1, 4096> with(threads = 512),
        <f32, Anywhere, 1, 256> with(threads = 32),
        <f16, InVectors, 64, 16> with(vector = 8),
        <f16, InVectors, 32, 32> with(vector = 8),
        <f16, InVectors, 16, 64> with(vector = 8),
        <f16, InVectors, 1, 256> with(threads = 32, vector = 8),
        <f16, InVectors, 1, 1024> with(vector = 8),
        <f16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <f16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <f16, Anywhere, 1, 256> with(threads = 32, vector = 8),
        <bf16, InVectors, 64, 16> with(vector = 8),
        <bf16, InVectors, 32, 32> with(vector = 8),
        <bf16, InVectors, 16, 64> with(vector = 8),
        <bf16, InVectors, 1, 256> with(threads = 32, vector = 8),
        <bf16, InVectors, 1, 1024> with(vector = 8),
        <bf16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <bf16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <bf16, Anywhere, 1, 256> with(threads = 32, vector = 8),
    )
)]
pub fn softmax_rows<B: Block, T: Float + Cast<f32>, P: Placement, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    y: RowsMut<T, P>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (x, y) = (x.partition(cx, shape![R, N]), y.partition(cx, shape![R, N]));
    let row = cx.bid::<0>();
    let x = Quarters::of(|k| x.load_masked(NegativeInfinity, (row, k))).map(|_, x| x.cast::<f32>());
    let maximum = x.reduce(|a, b| a.maximum(b)).max::<1>();
    let powers = x.map(|_, x| (x - maximum).exp_approximate());
    let scale = 1.0 / powers.reduce(|a, b| a + b).sum::<1>();
    powers.map(|k, powers| y.store_masked((powers * scale).cast::<T>(), (row, k)));
}

/// [`softmax_rows`] of longer rows. Each block takes a row, in tiles of `N` columns, which are `G` groups of `W` threads' vectors of `V`.
#[kernel(
    threads = 512,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 8192, 4, 512, 4>,
        <f32, Anywhere, 8192, 4, 512, 4>,
        <f16, InVectors, 16384, 4, 512, 8> with(vector = 8),
        <f16, Anywhere, 16384, 4, 512, 8> with(vector = 8),
        <bf16, InVectors, 16384, 4, 512, 8> with(vector = 8),
        <bf16, Anywhere, 16384, 4, 512, 8> with(vector = 8),
    )
)]
pub fn softmax_long_rows<
    B: Block,
    T: Float + Cast<f32>,
    P: Placement,
    const N: usize,
    const G: usize,
    const W: usize,
    const V: usize,
>(
    cx: Cx<B>,
    x: Rows<T, P>,
    y: RowsMut<T, P>,
) where
    D<N>: Dimension,
    D<G>: Dimension,
    D<W>: Dimension,
    D<V>: Dimension,
    f32: Cast<T>,
{
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let (maximum, sum) = exponentials::<B, T, P, N, G, W, V>(x, *row);
    let scale = 1.0 / sum;
    for column in 0..columns {
        let tile = x.load_masked(NegativeInfinity, (row, column)).cast::<f32>();
        y.store_masked(((tile - maximum).exp_approximate() * scale).cast::<T>(), (row, column));
    }
}

/// `dx = y * (dy - sum(dy * y))` along rows of at most 4 `N` columns: the gradient of [`softmax_rows`], of its result `y`. Each block takes `R`
/// rows.
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
        <f16, InVectors, 4, 256> with(vector = 8),
        <f16, InVectors, 1, 1024> with(vector = 8),
        <f16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <f16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <f16, InVectors, 1, 8192> with(threads = 1024, vector = 8),
        <f16, Anywhere, 4, 256> with(vector = 8),
        <bf16, InVectors, 64, 16> with(vector = 8),
        <bf16, InVectors, 32, 32> with(vector = 8),
        <bf16, InVectors, 16, 64> with(vector = 8),
        <bf16, InVectors, 4, 256> with(vector = 8),
        <bf16, InVectors, 1, 1024> with(vector = 8),
        <bf16, InVectors, 1, 2048> with(threads = 256, vector = 8),
        <bf16, InVectors, 1, 4096> with(threads = 512, vector = 8),
        <bf16, InVectors, 1, 8192> with(threads = 1024, vector = 8),
        <bf16, Anywhere, 4, 256> with(vector = 8),
    )
)]
pub fn softmax_gradient<B: Block, T: Float + Cast<f32>, P: Placement, const R: usize, const N: usize>(
    cx: Cx<B>,
    y: Rows<T, P>,
    dy: Rows<T, P>,
    dx: RowsMut<T, P>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (y, dy) = (y.partition(cx, shape![R, N]), dy.partition(cx, shape![R, N]));
    let dx = dx.partition(cx, shape![R, N]);
    let row = cx.bid::<0>();
    let both = Quarters::of(|k| (y.load_masked(Zero, (row, k)), dy.load_masked(Zero, (row, k))));
    let products = both.map(|_, (y, dy)| y.cast::<f32>() * dy.cast::<f32>());
    let sum = products.reduce(|a, b| a + b).sum::<1>();
    both.map(|k, (y, dy)| {
        dx.store_masked((y.cast::<f32>() * (dy.cast::<f32>() - sum)).cast::<T>(), (row, k));
    });
}

/// [`softmax_gradient`] of longer rows. Each block takes a row, in tiles of `N` columns.
#[kernel(
    threads = 512,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 8192>,
        <f32, Anywhere, 8192>,
        <f16, InVectors, 16384> with(vector = 8),
        <f16, Anywhere, 16384> with(vector = 8),
        <bf16, InVectors, 16384> with(vector = 8),
        <bf16, Anywhere, 16384> with(vector = 8),
    )
)]
pub fn softmax_gradient_of_long_rows<B: Block, T: Float + Cast<f32>, P: Placement, const N: usize>(
    cx: Cx<B>,
    y: Rows<T, P>,
    dy: Rows<T, P>,
    dx: RowsMut<T, P>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let (y, dy) = (y.partition(cx, shape![1, N]), dy.partition(cx, shape![1, N]));
    let dx = dx.partition(cx, shape![1, N]);
    let (row, columns) = (cx.bid::<0>(), y.num_tiles(1));
    let load = |column| (y.load_masked(Zero, (row, column)), dy.load_masked(Zero, (row, column)));
    let mut sums = cx.zeros::<f32>(shape![1, N]);
    for column in 0..columns {
        let (y, dy) = load(column);
        sums += y.cast::<f32>() * dy.cast::<f32>();
    }
    let sum = sums.sum::<1>();
    for column in 0..columns {
        let (y, dy) = load(column);
        dx.store_masked((y.cast::<f32>() * (dy.cast::<f32>() - sum)).cast::<T>(), (row, column));
    }
}
