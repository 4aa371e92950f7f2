//! Sorts along every axis.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

/// Rows: sorted along axis 0, along axis 1 descending, over all; the tile sorted together with its numbers by elements
/// along axis 1; and rows: positions along axis 0 descending, along axis 1, and those numbers.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 2,
    instances(<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn sorts_of_8_32<T: Ordered + Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<8>, D<32>)>,
    values: Output<T, (D<4>, D<8>, D<32>)>,
    positions: Output<u32, (D<3>, D<8>, D<32>)>,
) {
    let values = values.partition(cx, shape![1, 8, 32]);
    let positions = positions.partition(cx, shape![1, 8, 32]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![8, 32]).load((0, 0));
    values.store(x.sort::<0>(), (0, i, 0));
    values.store(x.sort_with::<1>(Descending), (1, i, 0));
    values.store(x.sort::<ALL>(), (2, i, 0));
    positions.store(x.argsort_with::<0>(Descending), (0, i, 0));
    positions.store(x.argsort::<1>(), (1, i, 0));
    let (sorted, numbers) = (x, cx.iota::<u32>(shape![8, 32])).sort_by_key::<1>();
    values.store(sorted, (3, i, 0));
    positions.store(numbers, (2, i, 0));
}

/// Kernels for matrices of one shape.
macro_rules! along_axes {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Rows: sorted along axis 0, sorted along axis 1 descending.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: Ordered + Promote<T, Output = T>>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            values: Output<T, (D<2>, D<$rows>, D<$columns>)>,
        ) {
            let values = values.partition(cx, shape![1, $rows, $columns]);
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            values.store(x.sort::<0>(), (0, i, 0));
            values.store(x.sort_with::<1>(Descending), (1, i, 0));
        }
    )* };
}
along_axes! {
    sort_axes_of_64_16: 256 threads, 2 neighbours, 64 x 16, (<f32>, <i64>);
    sort_axes_of_2_2: 64 threads, 1 neighbours, 2 x 2, (<f32>);
    sort_axes_of_64_32: 1024 threads, 1 neighbours, 64 x 32, (<f16>);
    sort_axes_of_1_4096: 256 threads, 4 neighbours, 1 x 4096, (<f32>, <f64>);
    sort_axes_of_1024_1: 32 threads, 1 neighbours, 1024 x 1, (<i8>);
}

/// The 4 largest of each row, and where they are; the largest of each column, and where it is.
#[kernel(threads = 128, min_blocks = 1, vector = 4, instances(<f32>, <i8>, <u64>))]
pub fn largest_of_16_64<T: Ordered + Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<16>, D<64>)>,
    values: Output<T, (D<16>, D<4>)>,
    positions: Output<u32, (D<16>, D<4>)>,
    highest: Output<T, (D<1>, D<64>)>,
    rows: Output<u32, (D<1>, D<64>)>,
) {
    let values = values.partition(cx, shape![16, 4]);
    let positions = positions.partition(cx, shape![16, 4]);
    let highest = highest.partition(cx, shape![1, 64]);
    let rows = rows.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 64]).load((0, 0));
    let (best, at) = x.top_k::<1, 4>();
    values.store(best, (i, 0));
    positions.store(at, (i, 0));
    let (best, at) = x.top_k::<0, 1>();
    highest.store(best, (i, 0));
    rows.store(at, (i, 0));
}
