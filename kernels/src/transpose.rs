//! Transposition of matrices.

use cuda_tiles::prelude::*;

/// The transpose of a matrix: `y[j, i] = x[i, j]`.
///
/// Each block takes one tile of `ROWS` x `COLUMNS`. Neighbouring blocks take tiles below each other in `x`. These tiles are side by side
/// in `y`, so that the blocks fill whole rows of `y`.
#[kernel(threads = 512, grid = 2, instances(<f32, 64, 64>, <f16, 64, 64>, <f64, 64, 64>, <i32, 64, 64>, <u8, 64, 64>))]
pub fn transpose<B: Block, T: Number, const ROWS: usize, const COLUMNS: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, u32)>,
    y: SpanMut<T, (u32, u32)>,
) where
    D<ROWS>: Dimension,
    D<COLUMNS>: Dimension,
{
    let (x, y) = (x.partition(cx, shape![ROWS, COLUMNS]), y.partition(cx, shape![COLUMNS, ROWS]));
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, (i, j)).transpose::<0, 1>(), (j, i));
}
