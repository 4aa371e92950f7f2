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
//! The sums by rows are taken apart from `dx`, in two steps: [`norm_weight_gradient_parts`] sums some rows each, and [`sum_of_parts`] sums
//! what it has found. So rows may have any length, and the order of all sums is fixed. Both tensors are read a second time for it.

use cuda_tiles::prelude::*;

/// `dx`. Each block takes `R` rows. For RMS normalisation `mean` has no elements.
#[kernel(
    threads = 256,
    min_blocks = 3,
    instances(
        <f32, 2, 1024>, <f32, 1, 2048>,
        <f16, 2, 1024>, <f16, 1, 4096>,
        <bf16, 2, 1024>, <bf16, 1, 4096>,
    )
)]
pub fn norm_gradient<B: Block, T: Float + Cast<f32>, const R: usize, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    weight: Span<T, (u32,)>,
    mean: Span<f32, (u32,)>,
    reciprocal_deviation: Span<f32, (u32,)>,
    dy: Span<T, (u32, u32)>,
    dx: SpanMut<T, (u32, u32)>,
) where
    D<R>: Dimension,
    D<N>: Dimension,
    f32: Cast<T>,
{
    let length = x.extent(1) as f32;
    // A mean that is zero has no gradient either.
    let centred = if mean.extent(0) == 0 { 0.0 } else { 1.0 / length };
    let (mean, scale) = (mean.partition(cx, shape![R]), reciprocal_deviation.partition(cx, shape![R]));
    let (x, dy) = (x.partition(cx, shape![R, N]), dy.partition(cx, shape![R, N]));
    let (dx, weight) = (dx.partition(cx, shape![R, N]), weight.partition(cx, shape![N]));
    let (row, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let (mean, scale) = (mean.load_masked(Zero, row), scale.load_masked(Zero, row));
    let (mean, scale) = (mean.expand_dims::<1>(), scale.expand_dims::<1>());
    // n and g of a tile. Beyond the end of a row g is zero.
    let load = |column| {
        let (x, dy) = (x.load_masked(Zero, (row, column)), dy.load_masked(Zero, (row, column)));
        let weight = weight.load_masked(Zero, column).cast::<f32>().expand_dims::<0>();
        ((x.cast::<f32>() - mean) * scale, dy.cast::<f32>() * weight)
    };
    let (first_n, first_g) = load(0);
    let add = |a: (f32, f32), b: (f32, f32)| (a.0 + b.0, a.1 + b.1);
    let (mut sum, mut products) = (first_g, first_g * first_n).reduce::<1>((0.0, 0.0), add);
    for column in 1..columns {
        let (n, g) = load(column);
        let (own, own_products) = (g, g * n).reduce::<1>((0.0, 0.0), add);
        sum += own;
        products += own_products;
    }
    let (mean_g, mean_product) = (sum * centred, products / length);
    if columns == 1 {
        dx.store_masked(((first_g - mean_g - first_n * mean_product) * scale).cast::<T>(), (row, 0));
        return;
    }
    for column in 0..columns {
        let (n, g) = load(column);
        dx.store_masked(((g - mean_g - n * mean_product) * scale).cast::<T>(), (row, column));
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

/// The sum of each column. Each block takes 64 columns.
#[kernel(threads = 256, instances(<f32>, <f16>, <bf16>))]
pub fn sum_of_parts<B: Block, T: Float>(cx: Cx<B>, parts: Span<f32, (u32, u32)>, sums: SpanMut<T, (u32,)>)
where
    f32: Cast<T>,
{
    let (parts, sums) = (parts.partition(cx, shape![64, 64]), sums.partition(cx, shape![64]));
    let column = cx.bid::<0>();
    let mut total = cx.zeros::<f32>(shape![64, 64]);
    for row in 0..parts.num_tiles(0) {
        total += parts.load_masked(Zero, (row, column));
    }
    sums.store_masked(total.sum::<0>().squeeze::<0>().cast::<T>(), column);
}
