//! Copies of matrices in the form that products want them in.

use cuda_tiles::prelude::*;

/// Copies matrices: `y[m, i, j] = x[m, i, j]`, whatever the strides of either. Grid: blocks along columns, rows and matrices,
/// of tiles of 32 x 128.
#[kernel(threads = 256, grid = 3, instances(<u8>, <u16>, <u32>, <u64>))]
pub fn pack<B: Block, T: Number>(
    cx: Cx<B>,
    x: Span<T, (u32, u32, u32), Strided>,
    y: SpanMut<T, (u32, u32, u32), Strided>,
) {
    let (x, y) = (x.partition(cx, shape![1, 32, 128]), y.partition(cx, shape![1, 32, 128]));
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, (m, i, j)), (m, i, j));
}

/// Copies matrices whose columns are neighbours in memory, not their rows, to ones whose rows are: `y[m, j, i] = x[m, i, j]`,
/// of `x` as it lies. Grid: blocks along rows, columns and matrices of `x`, of tiles of 64 x 64.
#[kernel(threads = 512, grid = 3, instances(<u8>, <u16>, <u32>, <u64>))]
pub fn pack_transposed<B: Block, T: Number>(
    cx: Cx<B>,
    x: Span<T, (u32, u32, u32), Strided>,
    y: SpanMut<T, (u32, u32, u32), Strided>,
) {
    let (x, y) = (x.partition(cx, shape![1, 64, 64]), y.partition(cx, shape![1, 64, 64]));
    let (i, j, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, (m, i, j)).transpose::<1, 2>(), (m, j, i));
}
