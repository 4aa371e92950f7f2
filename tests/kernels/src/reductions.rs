//! Reductions along every axis and over all, of loaded tiles and of what reductions leave.
//!
//! Results are stored broadcast back to the shape of the operand, which is what most programs do with them.

use crate::{Input, Output};
use cuda_tiles::ops::modes::ArithmeticMode;
use cuda_tiles::prelude::*;

/// Kernels for matrices of one shape that store all reductions along axis 0: the code behind one reduction differs
/// from that behind another in the combination of two elements alone, which other kernels test along other axes.
macro_rules! all_reductions {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Along axis 0: rows sum, product, maximum, minimum, both propagating NaN, greatest magnitude; and rows argmax,
        /// argmin, both propagating NaN.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            values: Output<T, (D<7>, D<$rows>, D<$columns>)>,
            positions: Output<u32, (D<4>, D<$rows>, D<$columns>)>,
        ) {
            let values = values.partition(cx, shape![1, $rows, $columns]);
            let positions = positions.partition(cx, shape![1, $rows, $columns]);
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            values.store(x.sum::<0>(), (0, i, 0));
            values.store(x.prod::<0>(), (1, i, 0));
            values.store(x.max::<0>(), (2, i, 0));
            values.store(x.min::<0>(), (3, i, 0));
            values.store(x.max_with::<0>(PropagateNan), (4, i, 0));
            values.store(x.min_with::<0>(PropagateNan), (5, i, 0));
            values.store(x.reduce::<0>(T::ZERO, |a, b| Comparable::maximum(a.abs(), b.abs())), (6, i, 0));
            positions.store(x.argmax::<0>(), (0, i, 0));
            positions.store(x.argmin::<0>(), (1, i, 0));
            positions.store(x.argmax_with::<0>(PropagateNan), (2, i, 0));
            positions.store(x.argmin_with::<0>(PropagateNan), (3, i, 0));
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
macro_rules! along_axes {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Along axis 0, along axis 1, over all: rows of sums, rows of maxima, and rows of the positions of minima.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            values: Output<T, (D<6>, D<$rows>, D<$columns>)>,
            positions: Output<u32, (D<3>, D<$rows>, D<$columns>)>,
        ) {
            let values = values.partition(cx, shape![1, $rows, $columns]);
            let positions = positions.partition(cx, shape![1, $rows, $columns]);
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
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
along_axes! {
    axes_of_64_16: 256 threads, 2 neighbours, 64 x 16, (<f32>, <i64>, <f16>);
    axes_of_4_128: 32 threads, 8 neighbours, 4 x 128, (<f32>, <u16>);
    axes_of_2_2: 64 threads, 1 neighbours, 2 x 2, (<f32>, <i32>);
    axes_of_64_32: 1024 threads, 1 neighbours, 64 x 32, (<f32>);
    axes_of_1_2048: 512 threads, 16 neighbours, 1 x 2048, (<i8>, <bf16>);
    axes_of_1024_1: 256 threads, 1 neighbours, 1024 x 1, (<f32>, <u8>);
}

/// Sums along each axis and over all, then maxima, of ranks 3 and 4; and argmin along the inner axes of rank 4.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u8>, <f32>))]
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
    let rank_3 = rank_3.partition(cx, shape![1, 8, 4, 16]);
    let first = first.partition(cx, shape![2, 4, 4, 16]);
    let second = second.partition(cx, shape![2, 4, 4, 16]);
    let third = third.partition(cx, shape![2, 4, 4, 16]);
    let fourth = fourth.partition(cx, shape![2, 4, 4, 16]);
    let all = all.partition(cx, shape![2, 4, 4, 16]);
    let inner = inner.partition(cx, shape![2, 4, 4, 16]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 4, 4, 16]).load((0, 0, 0, 0));
    let y = x.reshape(shape![8, 4, 16]);
    rank_3.store(y.sum::<0>(), (0, i, 0, 0));
    rank_3.store(y.sum::<1>(), (1, i, 0, 0));
    rank_3.store(y.sum::<2>(), (2, i, 0, 0));
    rank_3.store(y.sum::<ALL>(), (3, i, 0, 0));
    rank_3.store(y.max::<0>(), (4, i, 0, 0));
    rank_3.store(y.max::<1>(), (5, i, 0, 0));
    rank_3.store(y.max::<2>(), (6, i, 0, 0));
    rank_3.store(y.max::<ALL>(), (7, i, 0, 0));
    first.store(x.sum::<0>(), (i, 0, 0, 0));
    second.store(x.sum::<1>(), (i, 0, 0, 0));
    third.store(x.sum::<2>(), (i, 0, 0, 0));
    fourth.store(x.sum::<3>(), (i, 0, 0, 0));
    all.store(x.sum::<ALL>(), (i, 0, 0, 0));
    inner.store(x.argmin::<2>(), (i, 0, 0, 0));
}

/// What reductions leave, as operands (rows, of shape (4, 8, 16)): the maximum along axis 1 of sums along axis 0; the
/// sum along 2 of maxima along 1; the sum along 0 of sums along 1 of sums along 2; sums along 0 minus sums along 1;
/// the larger of an element and the sum along 1; `x` where it is above the maximum along 0 of minima along 2, else
/// those; the sums along 0 reshaped and expanded; sums along 2 times a loaded tile of the same shape.
#[kernel(threads = 128, min_blocks = 1, instances(<i32>, <i8>, <f32>, <f64>))]
pub fn chains<T: Number>(
    cx: Cx,
    x: Input<T, (D<4>, D<8>, D<16>)>,
    column: Input<T, (D<4>, D<8>, D<1>)>,
    results: Output<T, (D<8>, D<4>, D<8>, D<16>)>,
    positions: Output<u32, (D<4>, D<8>, D<16>)>,
) {
    let results = results.partition(cx, shape![1, 4, 8, 16]);
    let positions = positions.partition(cx, shape![4, 8, 16]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![4, 8, 16]).load((0, 0, 0));
    let column = column.partition(cx, shape![4, 8, 1]).load((0, 0, 0));
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
    positions.store(sums.argmax::<2>(), (i, 0, 0));
}

/// Sums along each axis of a matrix, stored as vectors, without and with a conversion to the loads' layout; the sum of
/// all as a tensor of rank 0.
#[kernel(threads = 256, min_blocks = 1, vector = 4, instances(<i32>, <f32>, <f64>, <bf16>))]
pub fn reduced_stores<T: Number>(
    cx: Cx,
    x: Input<T, (D<32>, D<32>)>,
    along_0: Output<T, (D<2>, D<32>)>,
    along_1: Output<T, (D<2>, D<32>)>,
    all: Output<T, (D<1>,)>,
) {
    let along_0 = along_0.partition(cx, shape![1, 32]);
    let along_1 = along_1.partition(cx, shape![1, 32]);
    let all = all.partition(cx, shape![1]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 32]).load((0, 0));
    along_0.store(x.sum::<0>(), (0, i));
    along_0.store(x.sum::<0>().blocked() + T::ZERO, (1, i));
    along_1.store(x.sum::<1>().reshape(shape![32]), (0, i));
    along_1.store(x.sum::<1>().blocked().reshape(shape![1, 32]), (1, i));
    all.store(x.sum::<ALL>(), i);
}

/// Rows: any along axis 0, along axis 1, of all; all along axis 0, along axis 1, of all.
#[kernel(threads = 64, min_blocks = 1, vector = 8)]
pub fn truths(cx: Cx, x: Input<bool, (D<16>, D<64>)>, results: Output<bool, (D<6>, D<16>, D<64>)>) {
    let results = results.partition(cx, shape![1, 16, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 64]).load((0, 0));
    results.store(x.any::<0>(), (0, i, 0));
    results.store(x.any::<1>(), (1, i, 0));
    results.store(x.any::<ALL>(), (2, i, 0));
    results.store(x.all::<0>(), (3, i, 0));
    results.store(x.all::<1>(), (4, i, 0));
    results.store(x.all::<ALL>(), (5, i, 0));
}

/// The sum of 32,768 numbers, and sums of pairs along the outer axis: 16,384 of them go through shared memory.
#[kernel(threads = 1024, min_blocks = 1, instances(<f32>, <bf16>, <i32>, <u8>))]
pub fn large_sums<T: Number>(
    cx: Cx,
    x: Input<T, (D<2>, D<16384>)>,
    pairs: Output<T, (D<16384>,)>,
    all: Output<T, (D<1>,)>,
) {
    let pairs = pairs.partition(cx, shape![16384]);
    let all = all.partition(cx, shape![1]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 16384]).load((0, 0));
    pairs.store(x.sum::<0>().reshape(shape![16384]), i);
    all.store(x.sum::<ALL>(), i);
}

/// Three tiles' sums along axis 0, along axis 1 and over all, of partial sums: those of the first tile times the square of the greatest
/// factor, those of the second times the factor, and those of the third.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32, i32>, <f32, f32>, <f64, f64>, <f16, f32>, <bf16, f32>))]
pub fn partial_sums<T: Number<Accumulator = R>, R: Number<Accumulator = R>>(
    cx: Cx,
    x: Input<T, (D<3>, D<16>, D<32>)>,
    factors: Input<R, (D<16>, D<32>)>,
    results: Output<R, (D<3>, D<16>, D<32>)>,
) {
    let results = results.partition(cx, shape![1, 16, 32]);
    let x = x.partition(cx, shape![1, 16, 32]);
    let i = cx.bid::<0>();
    let tile = |k| x.load((k, 0, 0)).reshape(shape![16, 32]);
    let factors = factors.partition(cx, shape![16, 32]).load((0, 0));
    let (mut along_0, mut along_1, mut all) =
        (tile(0).partial_sum::<0>(), tile(0).partial_sum::<1>(), tile(0).partial_sum::<ALL>());
    for k in 1..3 {
        along_0 = along_0 * factors.max::<0>() + tile(k).partial_sum::<0>();
        along_1 = along_1 * factors.max::<1>() + tile(k).partial_sum::<1>();
        all = all * factors.max::<ALL>() + tile(k).partial_sum::<ALL>();
    }
    results.store(along_0.finish(), (0, i, 0));
    results.store(along_1.finish(), (1, i, 0));
    results.store(all.finish(), (2, i, 0));
}

/// Bits that all have, that any has, that an odd number has: rows along axis 0, along axis 1, of all.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 2,
    instances(<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>)
)]
pub fn bits_of_8_32<T: Logical>(cx: Cx, x: Input<T, (D<8>, D<32>)>, results: Output<T, (D<9>, D<8>, D<32>)>) {
    let results = results.partition(cx, shape![1, 8, 32]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![8, 32]).load((0, 0));
    results.store(x.bit_and::<0>(), (0, i, 0));
    results.store(x.bit_and::<1>(), (1, i, 0));
    results.store(x.bit_and::<ALL>(), (2, i, 0));
    results.store(x.bit_or::<0>(), (3, i, 0));
    results.store(x.bit_or::<1>(), (4, i, 0));
    results.store(x.bit_or::<ALL>(), (5, i, 0));
    results.store(x.bit_xor::<0>(), (6, i, 0));
    results.store(x.bit_xor::<1>(), (7, i, 0));
    results.store(x.bit_xor::<ALL>(), (8, i, 0));
}

/// Over several axes: sums over 0 and 2, the same named the other way round, products over 1 and 3, maxima over 0, 1 and
/// 3, minima over all four by name, greatest magnitudes over 2 and 3.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u8>, <f32>))]
pub fn several_axes<T: Number>(
    cx: Cx,
    x: Input<T, (D<2>, D<4>, D<4>, D<16>)>,
    results: Output<T, (D<12>, D<4>, D<4>, D<16>)>,
) {
    let results = results.partition(cx, shape![2, 4, 4, 16]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 4, 4, 16]).load((0, 0, 0, 0));
    results.store(x.sum_over(axes![0, 2]), (0, i, 0, 0));
    results.store(x.sum_over(axes![2, 0]), (1, i, 0, 0));
    results.store(x.prod_over(axes![1, 3]), (2, i, 0, 0));
    results.store(x.max_over(axes![0, 1, 3]), (3, i, 0, 0));
    results.store(x.min_over(axes![0, 1, 2, 3]), (4, i, 0, 0));
    let larger = |a: T, b: T| Comparable::maximum(a.abs(), b.abs());
    results.store(x.reduce_over(axes![2, 3], larger), (5, i, 0, 0));
}

/// How many are true: along axis 0, along axis 1, of all; whether any is and whether all are over both axes.
#[kernel(threads = 64, min_blocks = 1, vector = 8)]
pub fn counts(
    cx: Cx,
    x: Input<bool, (D<16>, D<64>)>,
    results: Output<u32, (D<3>, D<16>, D<64>)>,
    both: Output<bool, (D<2>, D<16>, D<64>)>,
) {
    let results = results.partition(cx, shape![1, 16, 64]);
    let both = both.partition(cx, shape![1, 16, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 64]).load((0, 0));
    results.store(x.count::<0>(), (0, i, 0));
    results.store(x.count::<1>(), (1, i, 0));
    results.store(x.count::<ALL>(), (2, i, 0));
    both.store(x.any_over(axes![0, 1]), (0, i, 0));
    both.store(x.all_over(axes![1, 0]), (1, i, 0));
}

/// Rows: means along axis 0, along axis 1, of all; sums along axis 1 rounded toward zero, down, up; products along axis 1
/// rounded down, up.
#[kernel(threads = 128, min_blocks = 1, vector = 4, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn rounded<T: Float>(cx: Cx, x: Input<T, (D<16>, D<64>)>, results: Output<T, (D<8>, D<16>, D<64>)>)
where
    f32: Cast<T>,
    TowardZero: ArithmeticMode<T>,
    TowardNegative: ArithmeticMode<T>,
    TowardPositive: ArithmeticMode<T>,
{
    let results = results.partition(cx, shape![1, 16, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 64]).load((0, 0));
    results.store(x.mean::<0>(), (0, i, 0));
    results.store(x.mean::<1>(), (1, i, 0));
    results.store(x.mean::<ALL>(), (2, i, 0));
    results.store(x.sum_with::<1>(TowardZero), (3, i, 0));
    results.store(x.sum_with::<1>(TowardNegative), (4, i, 0));
    results.store(x.sum_with::<1>(TowardPositive), (5, i, 0));
    results.store(x.prod_with::<1>(TowardNegative), (6, i, 0));
    results.store(x.prod_with::<1>(TowardPositive), (7, i, 0));
}

/// Rows, along axis 0, axis 1 and all: of the tuples of an element, its negation, its number, and its number doubled the
/// wrapping sum, the minimum, the bits that an odd number has, and the maximum.
#[kernel(threads = 256, min_blocks = 1, vector = 2)]
pub fn tuples(
    cx: Cx,
    x: Input<u8, (D<64>, D<16>)>,
    sums: Output<u8, (D<3>, D<64>, D<16>)>,
    minima: Output<i16, (D<3>, D<64>, D<16>)>,
    parities: Output<u32, (D<3>, D<64>, D<16>)>,
    maxima: Output<u64, (D<3>, D<64>, D<16>)>,
) {
    let sums = sums.partition(cx, shape![1, 64, 16]);
    let minima = minima.partition(cx, shape![1, 64, 16]);
    let parities = parities.partition(cx, shape![1, 64, 16]);
    let maxima = maxima.partition(cx, shape![1, 64, 16]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![64, 16]).load((0, 0));
    let number = cx.iota::<u32>(shape![64, 16]);
    let t = (x, -x.cast::<i16>(), number, number.cast::<u64>() * 2);
    let combine = |a: (u8, i16, u32, u64), b: (u8, i16, u32, u64)| {
        (a.0.wrapping_add(b.0), a.1.min(b.1), a.2 ^ b.2, a.3.max(b.3))
    };
    let identity = (0, i16::MAX, 0, 0);
    macro_rules! stores {
        ($($row:literal: $axis:tt;)*) => { $(
            let (sum, minimum, parity, maximum) = t.reduce::<$axis>(identity, combine);
            sums.store(sum, ($row, i, 0));
            minima.store(minimum, ($row, i, 0));
            parities.store(parity, ($row, i, 0));
            maxima.store(maximum, ($row, i, 0));
        )* };
    }
    stores! { 0: 0; 1: 1; 2: ALL; }
}

/// Mean and sum of squared differences from it, in one pass: rows along axis 0 and along axis 1.
#[kernel(threads = 128, min_blocks = 1, vector = 4)]
pub fn moments(
    cx: Cx,
    x: Input<f32, (D<32>, D<64>)>,
    means: Output<f32, (D<2>, D<32>, D<64>)>,
    squares: Output<f32, (D<2>, D<32>, D<64>)>,
) {
    let means = means.partition(cx, shape![1, 32, 64]);
    let squares = squares.partition(cx, shape![1, 32, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 64]).load((0, 0));
    let t = (x, cx.zeros::<f32>(shape![32, 64]), cx.ones::<f32>(shape![32, 64]));
    let combine = |(m1, s1, n1): (f32, f32, f32), (m2, s2, n2): (f32, f32, f32)| {
        let (n, d) = (n1 + n2, m2 - m1);
        (m1 + d * (n2 / n), s1 + s2 + d * d * (n1 * n2 / n), n)
    };
    let (mean, square, _) = t.reduce::<0>((0.0, 0.0, 0.0), combine);
    means.store(mean, (0, i, 0));
    squares.store(square, (0, i, 0));
    let (mean, square, _) = t.reduce::<1>((0.0, 0.0, 0.0), combine);
    means.store(mean, (1, i, 0));
    squares.store(square, (1, i, 0));
}
