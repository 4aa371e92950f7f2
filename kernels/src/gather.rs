//! Gathered rows of a table.

use cuda_tiles::prelude::*;

/// Embedding: `y[i, ..] = table[rows[i], ..]`. Each block copies `K` rows of `N` elements.
///
/// # Panics
///
/// If the number of a row is not below the table's length (on the device: traps).
#[kernel(threads = 64, vector = 8, instances(<f16, 1, 1024>, <bf16, 1, 1024>, <f32, 1, 1024>))]
pub fn gather_rows<B: Block, T: Number, const K: usize, const N: usize>(
    cx: Cx<B>,
    table: Span<T, (u32, D<N>), Right, Aligned<16>>,
    rows: Span<i32, (u32,)>,
    y: SpanMut<T, (u32, D<N>), Right, Aligned<16>>,
) where
    D<K>: Dimension,
    D<N>: Dimension,
{
    let y = y.partition(cx, shape![K, N]);
    let i = cx.bid::<0>();
    let rows = rows.partition(cx, shape![K]).load_masked(Zero, i);
    let tile = table.gather_scatter_view(cx, shape![K, N]).load((rows, 0));
    y.store_masked(tile, (i, 0));
}
