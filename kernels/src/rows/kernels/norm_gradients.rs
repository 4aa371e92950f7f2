//! Gradients of both normalisations.
//!
//! With `n = (x - mean) * r` and `g = dy * weight`, of each row of `C` columns,
//!
//! ```text
//! dx      = r * (g - mean(g) - n * mean(g * n))     by columns of the row
//! dweight = sum(dy * n)                             by rows, for each column
//! dbias   = sum(dy)                                 by rows, for each column
//! ```
//!
//! RMS normalisation has no mean and no bias: its `mean` is a tensor without elements, which counts as zero, and there is no `mean(g)`.
//!
//! The sums by rows are taken in two steps, so that their order is fixed: blocks sum some rows each, and [`sum_of_parts`] sums what they have
//! found. [`norm_gradients_of_rows`] has all three gradients in one pass, where a block's threads can keep the sums of all columns in registers.
//! Other rows have [`norm_gradient`] for `dx`, and [`norm_weight_gradient_parts`] for the sums.

use cuda_tiles::prelude::*;

use super::{Anywhere, Columns, InVectors, Placement, Rows, RowsMut};

/// What a row needs of its means to be `dx`.
#[derive(Clone, Copy)]
struct Lengths {
    /// 1 / columns.
    all: f32,
    /// The same, and 0 without a mean: a mean that is zero has no gradient either.
    centred: f32,
}

impl Lengths {
    #[inline_on_device]
    fn of(columns: u32, mean: Span<f32, (u32,)>) -> Self {
        let all = 1.0 / columns as f32;
        Self { all, centred: if mean.extent(0) == 0 { 0.0 } else { all } }
    }
}

#[inline_on_device]
fn add(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    (a.0 + b.0, a.1 + b.1)
}

/// `dx` of rows of at most `N` columns, and in row `i` of the parts what block `i` has of `dweight` and `dbias`. The grid is as large as the
/// parts: block `i` takes every so many'th group of `R` rows, from group `i` on. For RMS normalisation `mean` and `bias_parts` have no elements.
///
/// The next rows are under way while a block computes.
#[kernel(
    threads = 128,
    min_blocks = 6,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 16, 64> with(min_blocks = 4),
        <f32, InVectors, 4, 256>,
        <f32, InVectors, 1, 1024>,
        <f32, InVectors, 1, 4096> with(threads = 512, min_blocks = 2),
        <f32, InVectors, 1, 8192> with(threads = 1024, min_blocks = 1),
        <f16, InVectors, 16, 64> with(min_blocks = 4, vector = 8),
        <f16, InVectors, 4, 256> with(vector = 8),
        <f16, InVectors, 1, 1024> with(vector = 8),
        <f16, InVectors, 1, 4096> with(threads = 256, min_blocks = 2, vector = 8),
        <f16, InVectors, 1, 8192> with(threads = 512, min_blocks = 1, vector = 8),
        <bf16, InVectors, 16, 64> with(min_blocks = 4, vector = 8),
        <bf16, InVectors, 4, 256> with(vector = 8),
        <bf16, InVectors, 1, 1024> with(vector = 8),
        <bf16, InVectors, 1, 4096> with(threads = 256, min_blocks = 2, vector = 8),
        <bf16, InVectors, 1, 8192> with(threads = 512, min_blocks = 1, vector = 8),
    )
)]
pub fn norm_gradients_of_rows<B: Block, T: Float + Cast<f32>, P: Placement, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    mean: Span<f32, (u32,)>,
    reciprocal_deviation: Span<f32, (u32,)>,
    dy: Rows<T, P>,
    dx: RowsMut<T, P>,
    weight_parts: RowsMut<f32, P>,
    bias_parts: RowsMut<f32, P>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let lengths = Lengths::of(x.extent(1), mean);
    let (mean, scale) = (mean.partition(cx, shape![R]), reciprocal_deviation.partition(cx, shape![R]));
    let (x, dy) = (x.partition(cx, shape![R, N]), dy.partition(cx, shape![R, N]));
    let dx = dx.partition(cx, shape![R, N]).schedule(cx, RowMajor);
    let weight_parts = weight_parts.partition(cx, shape![1, N]);
    let bias_parts = bias_parts.partition(cx, shape![1, N]);
    let weight = weight.partition(cx, shape![N]).load_masked(Zero, 0);
    // Behind the last row dy is zero, whatever it is multiplied with.
    let load = |rows: u32| {
        let (x, dy) = (x.load_masked(Zero, (rows, 0)), dy.load_masked(Zero, (rows, 0)));
        (x, dy, mean.load_masked(Zero, rows), scale.load_masked(Zero, rows))
    };
    let (mut weights, mut biases) = (cx.zeros::<f32>(shape![R, N]), cx.zeros::<f32>(shape![R, N]));
    let mut next = load(*cx.bid::<0>());
    for dx in dx.tiles() {
        let (x, dy, mean, scale) = next;
        next = load(dx.axis::<0>().saturating_add(cx.num_blocks(0)));
        let (mean, scale) = (mean.expand_dims::<1>(), scale.expand_dims::<1>());
        let (n, dy) = ((x.cast::<f32>() - mean) * scale, dy.cast::<f32>());
        weights += dy * n;
        biases += dy;
        let g = dy * weight.cast::<f32>().expand_dims::<0>();
        let (sum, products) = (g, g * n).reduce::<1>((0.0, 0.0), add);
        let tile = (g - sum * lengths.centred - n * (products * lengths.all)) * scale;
        dx.store_masked(tile.cast::<T>());
    }
    let block = cx.bid::<0>();
    weight_parts.store_masked(weights.sum::<0>(), (block, 0));
    bias_parts.store_masked(biases.sum::<0>(), (block, 0));
}

/// `dx` of rows of any length. Each block takes a row, in tiles of `N` columns. For RMS normalisation `mean` has no elements.
#[kernel(
    threads = 256,
    min_blocks = 3,
    cpu = super::on_cpu::<T, P>(),
    instances(
        <f32, InVectors, 2048>,
        <f32, Anywhere, 2048>,
        <f16, InVectors, 4096> with(vector = 8),
        <f16, Anywhere, 4096> with(vector = 8),
        <bf16, InVectors, 4096> with(vector = 8),
        <bf16, Anywhere, 4096> with(vector = 8),
    )
)]
pub fn norm_gradient<B: Block, T: Float + Cast<f32>, P: Placement, const N: usize>(
    cx: Cx<B>,
    x: Rows<T, P>,
    weight: Columns<T, P>,
    mean: Span<f32, (u32,)>,
    reciprocal_deviation: Span<f32, (u32,)>,
    dy: Rows<T, P>,
    dx: RowsMut<T, P>,
) where
    D<N>: Dimension,
    f32: Cast<T>,
{
    let lengths = Lengths::of(x.extent(1), mean);
    let (x, dy) = (x.partition(cx, shape![1, N]), dy.partition(cx, shape![1, N]));
    let (dx, weight) = (dx.partition(cx, shape![1, N]), weight.partition(cx, shape![N]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let centre = if mean.extent(0) == 0 { 0.0 } else { mean.item(*row) };
    let scale = reciprocal_deviation.item(*row);
    // n and g of a tile. Beyond the end of a row g is zero.
    let load = |column| {
        let (x, dy) = (x.load_masked(Zero, (row, column)), dy.load_masked(Zero, (row, column)));
        let weight = weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
        ((x.cast::<f32>() - centre) * scale, dy.cast::<f32>() * weight)
    };
    let result = |n: Tile<f32, _, _>, g: Tile<f32, _, _>, sum: Tile<f32, _, _>, products: Tile<f32, _, _>| {
        ((g - sum * lengths.centred - n * (products * lengths.all)) * scale).cast::<T>()
    };
    let (first_n, first_g) = load(0);
    let (mut sums, mut products) = (first_g, first_g * first_n);
    if columns == 1 {
        let (sum, product) = (sums, products).reduce::<1>((0.0, 0.0), add);
        dx.store_masked(result(first_n, first_g, sum, product), (row, 0));
        return;
    }
    for column in 1..columns {
        let (n, g) = load(column);
        sums += g;
        products += g * n;
    }
    let (sum, product) = (sums, products).reduce::<1>((0.0, 0.0), add);
    for column in 0..columns {
        let (n, g) = load(column);
        dx.store_masked(result(n, g, sum, product), (row, column));
    }
}

/// `dweight` and `dbias` of some of the rows: block `(i, j)` sums every so many'th group of 8 rows, from group `i` on, in tile `j` of the
/// columns. For RMS normalisation `mean` and `bias_parts` have no elements.
///
/// A row is a tile, whose mean and deviation are numbers: as tiles, those of a group would have to be exchanged between threads. All rows of a
/// group are under way at once.
#[kernel(threads = 256, min_blocks = 2, grid = 2, instances(<f32>, <f16>, <bf16>))]
pub fn norm_weight_gradient_parts<B: Block, T: Float + Cast<f32>>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    mean: Span<f32, (u32,)>,
    reciprocal_deviation: Span<f32, (u32,)>,
    dy: Span<T, (u32, u32)>,
    weight_parts: SpanMut<f32, (u32, u32)>,
    bias_parts: SpanMut<f32, (u32, u32)>,
) {
    let (rows, parts) = (x.extent(0), weight_parts.extent(0));
    let centred = mean.extent(0) != 0;
    let weight_parts = weight_parts.partition(cx, shape![1, 1024]);
    let bias_parts = bias_parts.partition(cx, shape![1, 1024]);
    let (x, dy) = (x.partition(cx, shape![1, 1024]), dy.partition(cx, shape![1, 1024]));
    let (part, column) = (cx.bid::<0>(), cx.bid::<1>());
    let (mut weights, mut biases) = (cx.zeros::<f32>(shape![1, 1024]), cx.zeros::<f32>(shape![1, 1024]));
    let mut first = part.saturating_mul(8);
    while first < rows {
        // Behind the last row dy is zero, whatever the numbers of that row are multiplied with.
        let load = |k: u32| {
            let row = first.saturating_add(k);
            (x.load_masked(Zero, (row, column)), dy.load_masked(Zero, (row, column)), row.min(rows - 1))
        };
        let mut add = |(x, dy, row): (Tile<T, _, _>, Tile<T, _, _>, u32)| {
            let centre = if centred { mean.item(row) } else { 0.0 };
            let n = (x.cast::<f32>() - centre) * reciprocal_deviation.item(row);
            let dy = dy.cast::<f32>();
            weights += dy * n;
            biases += dy;
        };
        // One by one: of an array in a loop the compiler makes local memory.
        let (a, b, c, d) = (load(0), load(1), load(2), load(3));
        let (e, f, g, h) = (load(4), load(5), load(6), load(7));
        add(a);
        add(b);
        add(c);
        add(d);
        add(e);
        add(f);
        add(g);
        add(h);
        first = first.saturating_add(parts.saturating_mul(8));
    }
    weight_parts.store_masked(weights, (part, column));
    bias_parts.store_masked(biases, (part, column));
}

/// The sum of each column of both parts. Each block takes 32 columns. For RMS normalisation `bias_parts` and `dbias` have no elements.
#[kernel(threads = 256, instances(<f32>, <f16>, <bf16>))]
pub fn sum_of_parts<B: Block, T: Float>(
    cx: Cx<B>,
    weight_parts: Span<f32, (u32, u32)>,
    bias_parts: Span<f32, (u32, u32)>,
    dweight: SpanMut<T, (u32,)>,
    dbias: SpanMut<T, (u32,)>,
) where
    f32: Cast<T>,
{
    let weight_parts = weight_parts.partition(cx, shape![128, 32]);
    let bias_parts = bias_parts.partition(cx, shape![128, 32]);
    let (dweight, dbias) = (dweight.partition(cx, shape![32]), dbias.partition(cx, shape![32]));
    let column = cx.bid::<0>();
    let (mut weights, mut biases) = (cx.zeros::<f32>(shape![128, 32]), cx.zeros::<f32>(shape![128, 32]));
    for row in 0..weight_parts.num_tiles(0) {
        weights += weight_parts.load_masked(Zero, (row, column));
        biases += bias_parts.load_masked(Zero, (row, column));
    }
    let sum = |total: Tile<f32, _, _>| total.sum::<0>().squeeze::<0>().cast::<T>();
    dweight.store_masked(sum(weights), column);
    dbias.store_masked(sum(biases), column);
}
