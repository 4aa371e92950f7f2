//! Kernels that copy operands to a storage that TMA reads: rows that begin at multiples of 16 bytes.

use cuda_tiles::prelude::*;

/// Copies row-major matrices: `y[m, i, j] = x[m, i, j]`. Rows of `y` begin at multiples of `LANES` elements.
///
/// # Shapes
///
/// `x` and `y` have the same shape. Each block copies a tile of 32 x 128. The axes of the grid are columns, rows and matrices.
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

/// As [`pack`], for matrices of any strides.
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

/// Copies the transposes of matrices: `y[m, j, i] = x[m, i, j]`. Rows of `x` begin at multiples of `OF_X` elements, rows of `y` at
/// multiples of `LANES` elements.
///
/// # Shapes
///
/// A matrix of `y` has the shape of the transpose of a matrix of `x`. Each block copies a tile of 64 x 64. The axes of the grid are rows,
/// columns and matrices of `x`.
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
