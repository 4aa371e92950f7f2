//! Reductions along every axis and over all, of loaded tiles and of what reductions leave.
//!
//! Results are stored broadcast back to the shape of the operand, which is what most programs do with them.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

/// Kernels for matrices of one shape that store all reductions along axis 0: the code behind one reduction differs
/// from that behind another in the combination of two elements alone, which other kernels test along other axes.
macro_rules! all_reductions {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Along axis 0: rows sum, product, maximum, minimum, both propagating NaN, greatest magnitude; and rows argmax,
        /// argmin, both propagating NaN.
        #[kernel(threads = $threads, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            values: Output<T, (D<7>, D<$rows>, D<$columns>)>,
            positions: Output<u32, (D<4>, D<$rows>, D<$columns>)>,
        ) {
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            let values = values.partition(cx, shape![1, $rows, $columns]);
            let positions = positions.partition(cx, shape![1, $rows, $columns]);
            values.store(x.sum::<0>(), (0, i, 0));
            values.store(x.prod::<0>(), (1, i, 0));
            values.store(x.max::<0>(), (2, i, 0));
            values.store(x.min::<0>(), (3, i, 0));
            values.store(x.max_with::<0, _>(PropagateNan), (4, i, 0));
            values.store(x.min_with::<0, _>(PropagateNan), (5, i, 0));
            values.store(x.reduce::<0>(T::ZERO, |a, b| Number::maximum(a.abs(), b.abs())), (6, i, 0));
            positions.store(x.argmax::<0>(), (0, i, 0));
            positions.store(x.argmin::<0>(), (1, i, 0));
            positions.store(x.argmax_with::<0, _>(PropagateNan), (2, i, 0));
            positions.store(x.argmin_with::<0, _>(PropagateNan), (3, i, 0));
        }
    )* };
}
// Elements along axis 0 of 8 x 32 lie in registers, lanes and warps; those of 4 x 16 in lanes and registers.
all_reductions! {
    reductions_of_8_32: 64 threads, 2 neighbours, 8 x 32,
        (<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>);
    reductions_of_4_16: 32 threads, 2 neighbours, 4 x 16, (<f32>, <i64>);
}

/// Kernels for matrices of one shape that reduce along each axis and over all.
macro_rules! axes {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Along axis 0, along axis 1, over all: rows of sums, rows of maxima, and rows of the positions of minima.
        #[kernel(threads = $threads, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            values: Output<T, (D<6>, D<$rows>, D<$columns>)>,
            positions: Output<u32, (D<3>, D<$rows>, D<$columns>)>,
        ) {
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            let values = values.partition(cx, shape![1, $rows, $columns]);
            let positions = positions.partition(cx, shape![1, $rows, $columns]);
            values.store(x.sum::<0>(), (0, i, 0));
            values.store(x.sum::<1>(), (1, i, 0));
            values.store(x.sum::<ALL>(), (2, i, 0));
            values.store(x.max::<0>(), (3, i, 0));
            values.store(x.max::<1>(), (4, i, 0));
            values.store(x.max::<ALL>(), (5, i, 0));
            positions.store(x.argmin::<0>(), (0, i, 0));
            positions.store(x.argmin::<1>(), (1, i, 0));
            positions.store(x.argmin::<ALL>(), (2, i, 0));
        }
    )* };
}
axes! {
    axes_of_64_16: 256 threads, 2 neighbours, 64 x 16, (<f32>, <i64>, <f16>);
    axes_of_4_128: 32 threads, 8 neighbours, 4 x 128, (<f32>, <u16>);
    axes_of_2_2: 64 threads, 1 neighbours, 2 x 2, (<f32>, <i32>);
    axes_of_64_32: 1024 threads, 1 neighbours, 64 x 32, (<f32>);
    axes_of_1_2048: 512 threads, 16 neighbours, 1 x 2048, (<i8>, <bf16>);
    axes_of_1024_1: 256 threads, 1 neighbours, 1024 x 1, (<f32>, <u8>);
}

/// Sums along each axis and over all, then maxima, of ranks 3 and 4; and argmin along the inner axes of rank 4.
#[kernel(threads = 64, vector = 2, instances(<i32>, <u8>, <f32>))]
pub fn high_rank<T: Number>(
    cx: Cx,
    x: Input<T, (D<2>, D<4>, D<4>, D<16>)>,
    rank_3: Output<T, (D<8>, D<8>, D<4>, D<16>)>,
    first: Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    second: Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    third: Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    fourth: Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    all: Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    inner: Output<u32, (D<2>, D<4>, D<4>, D<16>)>,
) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 4, 4, 16]).load((0, 0, 0, 0));
    let y = x.reshape(shape![8, 4, 16]);
    let rank_3 = rank_3.partition(cx, shape![1, 8, 4, 16]);
    rank_3.store(y.sum::<0>(), (0, i, 0, 0));
    rank_3.store(y.sum::<1>(), (1, i, 0, 0));
    rank_3.store(y.sum::<2>(), (2, i, 0, 0));
    rank_3.store(y.sum::<ALL>(), (3, i, 0, 0));
    rank_3.store(y.max::<0>(), (4, i, 0, 0));
    rank_3.store(y.max::<1>(), (5, i, 0, 0));
    rank_3.store(y.max::<2>(), (6, i, 0, 0));
    rank_3.store(y.max::<ALL>(), (7, i, 0, 0));
    first.partition(cx, shape![2, 4, 4, 16]).store(x.sum::<0>(), (i, 0, 0, 0));
    second.partition(cx, shape![2, 4, 4, 16]).store(x.sum::<1>(), (i, 0, 0, 0));
    third.partition(cx, shape![2, 4, 4, 16]).store(x.sum::<2>(), (i, 0, 0, 0));
    fourth.partition(cx, shape![2, 4, 4, 16]).store(x.sum::<3>(), (i, 0, 0, 0));
    all.partition(cx, shape![2, 4, 4, 16]).store(x.sum::<ALL>(), (i, 0, 0, 0));
    inner.partition(cx, shape![2, 4, 4, 16]).store(x.argmin::<2>(), (i, 0, 0, 0));
}

/// What reductions leave, as operands (rows, of shape (4, 8, 16)): the maximum along axis 1 of sums along axis 0; the
/// sum along 2 of maxima along 1; the sum along 0 of sums along 1 of sums along 2; sums along 0 minus sums along 1;
/// the larger of an element and the sum along 1; `x` where it is above the maximum along 0 of minima along 2, else
/// those; the sums along 0 reshaped and expanded; sums along 2 times a loaded tile of the same shape.
#[kernel(threads = 128, instances(<i32>, <i8>, <f32>, <f64>))]
pub fn chains<T: Number>(
    cx: Cx,
    x: Input<T, (D<4>, D<8>, D<16>)>,
    column: Input<T, (D<4>, D<8>, D<1>)>,
    results: Output<T, (D<8>, D<4>, D<8>, D<16>)>,
    positions: Output<u32, (D<4>, D<8>, D<16>)>,
) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![4, 8, 16]).load((0, 0, 0));
    let column = column.partition(cx, shape![4, 8, 1]).load((0, 0, 0));
    let results = results.partition(cx, shape![1, 4, 8, 16]);
    let sums = x.sum::<0>();
    results.store(sums.max::<1>(), (0, i, 0, 0));
    results.store(x.max::<1>().sum::<2>(), (1, i, 0, 0));
    results.store(x.sum::<2>().sum::<1>().sum::<0>(), (2, i, 0, 0));
    results.store(sums - x.sum::<1>(), (3, i, 0, 0));
    results.store(x.maximum(x.sum::<1>()), (4, i, 0, 0));
    let threshold = x.min::<2>().max::<0>();
    results.store(x.gt(threshold).select(x, threshold), (5, i, 0, 0));
    results.store(sums.reshape(shape![8, 16]).expand_dims::<0>(), (6, i, 0, 0));
    results.store(x.sum::<2>() * column, (7, i, 0, 0));
    positions.partition(cx, shape![4, 8, 16]).store(sums.argmax::<2>(), (i, 0, 0));
}

/// Sums along each axis of a matrix, stored as vectors, without and with a conversion to the loads' layout; the sum of
/// all as a tensor of rank 0.
#[kernel(threads = 256, vector = 4, instances(<i32>, <f32>, <f64>, <bf16>))]
pub fn reduced_stores<T: Number>(
    cx: Cx,
    x: Input<T, (D<32>, D<32>)>,
    along_0: Output<T, (D<2>, D<32>)>,
    along_1: Output<T, (D<2>, D<32>)>,
    all: Output<T, (D<1>,)>,
) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 32]).load((0, 0));
    let along_0 = along_0.partition(cx, shape![1, 32]);
    along_0.store(x.sum::<0>(), (0, i));
    along_0.store(x.sum::<0>().blocked() + T::ZERO, (1, i));
    let along_1 = along_1.partition(cx, shape![1, 32]);
    along_1.store(x.sum::<1>().reshape(shape![32]), (0, i));
    along_1.store(x.sum::<1>().blocked().reshape(shape![1, 32]), (1, i));
    all.partition(cx, shape![1]).store(x.sum::<ALL>(), i);
}

/// Rows: any along axis 0, along axis 1, of all; all along axis 0, along axis 1, of all.
#[kernel(threads = 64, vector = 8)]
pub fn truths(cx: Cx, x: Input<bool, (D<16>, D<64>)>, results: Output<bool, (D<6>, D<16>, D<64>)>) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 64]).load((0, 0));
    let results = results.partition(cx, shape![1, 16, 64]);
    results.store(x.any::<0>(), (0, i, 0));
    results.store(x.any::<1>(), (1, i, 0));
    results.store(x.any::<ALL>(), (2, i, 0));
    results.store(x.all::<0>(), (3, i, 0));
    results.store(x.all::<1>(), (4, i, 0));
    results.store(x.all::<ALL>(), (5, i, 0));
}

/// The sum of 32,768 numbers, and sums of pairs along the outer axis: 16,384 of them go through shared memory.
#[kernel(threads = 1024, instances(<f32>, <i32>, <u8>))]
pub fn large_sums<T: Number>(
    cx: Cx,
    x: Input<T, (D<2>, D<16384>)>,
    pairs: Output<T, (D<16384>,)>,
    all: Output<T, (D<1>,)>,
) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 16384]).load((0, 0));
    pairs.partition(cx, shape![16384]).store(x.sum::<0>().reshape(shape![16384]), i);
    all.partition(cx, shape![1]).store(x.sum::<ALL>(), i);
}
