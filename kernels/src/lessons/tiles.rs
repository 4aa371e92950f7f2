//! Lessons on tiles and views.

use cuda_tiles::prelude::*;

/// The largest element of each row, for rows of any length. Each block takes 8 rows, 256 columns at a time.
///
/// Elements beyond the edge are loaded as minus infinity, which is never the largest.
#[kernel(threads = 256)]
pub fn row_maximum(cx: Cx, x: Span<f32, (u32, u32)>, largest: SpanMut<f32, (u32,)>) {
    let (x, largest) = (x.partition(cx, shape![8, 256]), largest.partition(cx, shape![8]));
    let row = cx.bid::<0>();
    let mut so_far = cx.full(shape![8, 256], f32::NEG_INFINITY);
    for column in 0..x.num_tiles(1) {
        so_far = so_far.maximum(x.load_masked(NegativeInfinity, (row, column)));
    }
    largest.store_masked(so_far.max::<1>().reshape(shape![8]), row);
}

/// The multiplication table of two vectors: `z[i, j] = x[i] * y[j]`. Block `(i, j)` computes a tile of 32 x 64; `z` may have
/// any strides.
#[kernel(threads = 256, grid = 2)]
pub fn outer_product(
    cx: Cx,
    x: Span<f32, (u32,)>,
    y: Span<f32, (u32,)>,
    z: SpanMut<f32, (u32, u32), Strided>,
) {
    let z = z.partition(cx, shape![32, 64]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let column = x.partition(cx, shape![32]).load_masked(Zero, i).expand_dims::<1>();
    let row = y.partition(cx, shape![64]).load_masked(Zero, j);
    z.store_masked(column * row, (i, j));
}
