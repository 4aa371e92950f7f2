//! Rows by their numbers: gathered tiles of every rank, axis, index type and padding.

use cuda_tiles::prelude::*;

/// Rows of a table by their numbers, 4 a block: an embedding. The rows are whole vectors.
#[kernel(threads = 128, vector = 8, instances(<u8, i32>, <f16, i32>, <f32, u64>, <f64, i16>))]
pub fn embedding<T: Promote<T, Output = T>, I: Integer + Cast<u64>>(
    cx: Cx,
    table: crate::Input<T, (u32, D<1024>)>,
    rows: crate::Input<I, (Mult<u32, 4>,)>,
    y: crate::Output<T, (Mult<u32, 4>, D<1024>)>,
) {
    let i = cx.bid::<0>();
    let rows = rows.partition(cx, shape![4]).load(i);
    let tile = table.gather_scatter_view(cx, shape![4, 1024]).load((rows, 0));
    y.partition(cx, shape![4, 1024]).store(tile, (i, 0));
}
