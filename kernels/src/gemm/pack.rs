//! Copies of matrices in the form that products want them in.

use cuda_tiles::prelude::*;

/// Copies matrices whose columns are neighbours in memory: `y[m, i, j] = x[m, i, j]`. Rows of `y` begin at multiples of `LANES`
/// elements. Grid: blocks along columns, rows and matrices, of tiles of 32 x 128.
#[kernel(threads = 256, grid = 3, dependent, instances(<u8, 16>, <u16, 8>, <u32, 4>, <u64, 2>))]
pub fn pack<B: Block, T: Number, const LANES: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32, u32), Pitched>,
    y: SpanMut<T, (u32, u32, u32), Pitched<LANES>>,
) {
    let (x, y) = (x.partition(cx, shape![1, 32, 128]), y.partition(cx, shape![1, 32, 128]));
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, (m, i, j)), (m, i, j));
}

/// As [`pack`], of matrices whose elements lie anywhere.
#[kernel(threads = 256, grid = 3, dependent, instances(<u8, 16>, <u16, 8>, <u32, 4>, <u64, 2>))]
pub fn pack_strided<B: Block, T: Number, const LANES: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32, u32), Strided>,
    y: SpanMut<T, (u32, u32, u32), Pitched<LANES>>,
) {
    let (x, y) = (x.partition(cx, shape![1, 32, 128]), y.partition(cx, shape![1, 32, 128]));
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, (m, i, j)), (m, i, j));
}

/// Copies transposes: `y[m, j, i] = x[m, i, j]`. Rows of `y` begin at multiples of `LANES` elements, those of `x` at multiples of
/// `OF_X`. Grid: blocks along rows, columns and matrices of `x`, of tiles of 64 x 64.
#[kernel(
    threads = 512,
    grid = 3,
    dependent,
    instances(<u8, 1, 16>, <u8, 16, 16>, <u16, 1, 8>, <u16, 8, 8>, <u32, 1, 4>, <u32, 4, 4>, <u64, 1, 2>, <u64, 2, 2>)
)]
pub fn pack_transposed<B: Block, T: Number, const OF_X: usize, const LANES: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32, u32), Pitched<OF_X>>,
    y: SpanMut<T, (u32, u32, u32), Pitched<LANES>>,
) {
    let (x, y) = (x.partition(cx, shape![1, 64, 64]), y.partition(cx, shape![1, 64, 64]));
    let (i, j, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    y.store_masked(x.load_masked(Zero, (m, i, j)).transpose::<1, 2>(), (m, j, i));
}
