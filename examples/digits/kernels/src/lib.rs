//! The quickstart's classifier: nearest class centroid, on standardised columns.
//!
//! The program launches four kernels, one after the other, on `n` rows of 64 pixels. The sizes of the tiles divide neither `n` nor the
//! number of classes, so the kernels mask the edges.

#![no_std]

use cuda_tiles::prelude::*;

/// For each row of tile `tile`, which has the shape `column`: whether the row is among the first `rows` rows of the tensor. The result is a
/// column, which broadcasts.
fn inside<B: Block, S: Shape>(cx: Cx<B>, column: S, tile: u32, rows: u32) -> Tile<bool, S, Blocked<B>> {
    (cx.iota::<u32>(column) + tile * S::LEN as u32).lt(rows)
}

/// Mean and standard deviation of each column. Each block takes 16 columns.
///
/// A second pass over the rows sums the squared deviations from the mean. So large terms never cancel.
#[kernel(threads = 256)]
pub fn column_statistics(
    cx: Cx,
    x: Span<f32, (u32, u32)>,
    mean: SpanMut<f32, (u32,)>,
    deviation: SpanMut<f32, (u32,)>,
) {
    let mean = mean.partition(cx, shape![16]);
    let deviation = deviation.partition(cx, shape![16]);
    let (rows, column) = (x.extent(0), cx.bid::<0>());
    let x = x.partition(cx, shape![128, 16]);
    let mut sums = cx.zeros::<f32>(shape![128, 16]);
    for tile in 0..x.num_tiles(0) {
        sums += x.load_masked(Zero, (tile, column));
    }
    let average = sums.sum::<0>() / rows as f32;
    let mut squares = cx.zeros::<f32>(shape![128, 16]);
    for tile in 0..x.num_tiles(0) {
        let distance = x.load_masked(Zero, (tile, column)) - average;
        squares = inside(cx, shape![128, 1], tile, rows).select(squares + distance * distance, squares);
    }
    let spread = (squares.sum::<0>() / rows as f32).sqrt();
    mean.store_masked(average.reshape(shape![16]), column);
    deviation.store_masked(spread.reshape(shape![16]), column);
}

/// Standardised columns: `z = (x - mean) / deviation`. A column without deviation becomes 0. Each block takes 32 rows.
#[kernel(threads = 256)]
pub fn standardise(
    cx: Cx,
    x: Span<f32, (u32, D<64>)>,
    mean: Span<f32, (D<64>,)>,
    deviation: Span<f32, (D<64>,)>,
    z: SpanMut<f32, (u32, D<64>)>,
) {
    let (x, z) = (x.partition(cx, shape![32, 64]), z.partition(cx, shape![32, 64]));
    let row = (cx.bid::<0>(), 0);
    let mean = mean.partition(cx, shape![64]).load(0);
    let deviation = deviation.partition(cx, shape![64]).load(0);
    let scale = deviation.eq(0.0).select(cx.ones(shape![64]), deviation);
    z.store_masked((x.load_masked(Zero, row) - mean) / scale, row);
}

/// The mean of the rows of each class. A class without rows has the mean 0. Each block takes one class.
#[kernel(threads = 256)]
pub fn class_centroids(
    cx: Cx,
    z: Span<f32, (u32, D<64>)>,
    labels: Span<u32, (u32,)>,
    centroids: SpanMut<f32, (u32, D<64>)>,
) {
    let centroids = centroids.partition(cx, shape![1, 64]);
    let (rows, class) = (z.extent(0), cx.bid::<0>());
    let (z, labels) = (z.partition(cx, shape![64, 64]), labels.partition(cx, shape![64]));
    let mut sums = cx.zeros::<f32>(shape![64, 64]);
    let mut members = cx.zeros::<f32>(shape![64, 1]);
    for tile in 0..z.num_tiles(0) {
        let label = labels.load_masked(Zero, tile).expand_dims::<1>();
        let member = label.eq(*class) & inside(cx, shape![64, 1], tile, rows);
        sums = member.select(sums + z.load_masked(Zero, (tile, 0)), sums);
        members = member.select(members + 1.0, members);
    }
    let centroid = sums.sum::<0>() / members.sum::<0>().maximum(1.0);
    centroids.store(centroid, (class, 0));
}

/// For each row, the softmax of the negative distances to the centroids, and the nearest centroid. Each block takes 8 rows.
///
/// There are at most 16 centroids. Centroids beyond the last one load as infinitely far away. They have probability 0 and are never the
/// nearest.
#[kernel(threads = 256)]
pub fn classify(
    cx: Cx,
    z: Span<f32, (u32, D<64>)>,
    centroids: Span<f32, (u32, D<64>)>,
    probabilities: SpanMut<f32, (u32, u32)>,
    nearest: SpanMut<u32, (u32,)>,
) {
    let probabilities = probabilities.partition(cx, shape![8, 16]);
    let nearest = nearest.partition(cx, shape![8]);
    let row = cx.bid::<0>();
    let z = z.partition(cx, shape![8, 64]).load_masked(Zero, (row, 0)).reshape(shape![8, 1, 64]);
    let centroids = centroids.partition(cx, shape![16, 64]).load_masked(PositiveInfinity, (0, 0));
    let difference = z - centroids;
    let distance = (difference * difference).sum::<2>().sqrt();
    let closeness = (distance.min::<1>() - distance).exp();
    let probability = closeness / closeness.sum::<1>();
    probabilities.store_masked(probability.reshape(shape![8, 16]), (row, 0));
    nearest.store_masked(distance.argmin::<1>().reshape(shape![8]), row);
}
