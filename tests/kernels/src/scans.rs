//! Scans along every axis, in every form, of loaded tiles and of what reductions leave.

use crate::{Input, Output};
use cuda_tiles::ops::modes::NearestEven;
use cuda_tiles::prelude::*;

/// Kernels for matrices of one shape with scans of every kind along axis 0.
macro_rules! all_scans {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Rows: sums in the four forms; products; maxima forward, minima backward; the first of both
        /// largest magnitudes so far.
        #[kernel(threads = $threads, min_blocks = 1, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            results: Output<T, (D<8>, D<$rows>, D<$columns>)>,
        ) {
            let results = results.partition(cx, shape![1, $rows, $columns]);
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            results.store(x.cumsum::<0>(), (0, i, 0));
            results.store(x.cumsum_with::<0>(Exclusive), (1, i, 0));
            results.store(x.cumsum_with::<0>(Backward), (2, i, 0));
            results.store(x.cumsum_with::<0>((Backward, Exclusive)), (3, i, 0));
            results.store(x.cumprod::<0>(), (4, i, 0));
            results.store(x.cummax::<0>(), (5, i, 0));
            results.store(x.cummin_with::<0>(Backward), (6, i, 0));
            let larger = |a: T, b: T| if a.abs().less(b.abs()) { b } else { a };
            results.store(x.scan::<0>(T::ZERO, larger), (7, i, 0));
        }
    )* };
}
// Elements along axis 0 of 8 x 32 lie in registers, lanes and warps; those of 4 x 16 in lanes and registers.
all_scans! {
    scans_of_8_32: 64 threads, 2 neighbours, 8 x 32,
        (<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>);
    scans_of_4_16: 32 threads, 2 neighbours, 4 x 16, (<f32>, <i64>);
}

/// Kernels for matrices of one shape that scan along each axis and over all.
macro_rules! along_axes {
    ($($name:ident: $threads:tt threads, $vector:tt neighbours, $rows:literal x $columns:literal, $instances:tt;)*) => { $(
        /// Along axis 0, along axis 1, over all: rows of sums, of exclusive backward sums, of backward maxima.
        #[kernel(threads = $threads, vector = $vector, instances $instances)]
        pub fn $name<T: Number>(
            cx: Cx,
            x: Input<T, (D<$rows>, D<$columns>)>,
            results: Output<T, (D<9>, D<$rows>, D<$columns>)>,
        ) {
            let results = results.partition(cx, shape![1, $rows, $columns]);
            let i = cx.bid::<0>();
            let x = x.partition(cx, shape![$rows, $columns]).load((0, 0));
            results.store(x.cumsum::<0>(), (0, i, 0));
            results.store(x.cumsum::<1>(), (1, i, 0));
            results.store(x.cumsum::<ALL>(), (2, i, 0));
            results.store(x.cumsum_with::<0>((Exclusive, Backward)), (3, i, 0));
            results.store(x.cumsum_with::<1>((Exclusive, Backward)), (4, i, 0));
            results.store(x.cumsum_with::<ALL>((Exclusive, Backward)), (5, i, 0));
            results.store(x.cummax_with::<0>(Backward), (6, i, 0));
            results.store(x.cummax_with::<1>(Backward), (7, i, 0));
            results.store(x.cummax_with::<ALL>(Backward), (8, i, 0));
        }
    )* };
}
along_axes! {
    scan_axes_of_64_16: 256 threads, 2 neighbours, 64 x 16, (<f32>, <i64>, <f16>);
    scan_axes_of_4_128: 32 threads, 8 neighbours, 4 x 128, (<f32>, <u16>);
    scan_axes_of_2_2: 64 threads, 1 neighbours, 2 x 2, (<f32>, <i32>);
    scan_axes_of_64_32: 1024 threads, 1 neighbours, 64 x 32, (<f32>);
    scan_axes_of_1_2048: 512 threads, 16 neighbours, 1 x 2048, (<i8>, <bf16>);
    scan_axes_of_1024_1: 256 threads, 1 neighbours, 1024 x 1, (<f32>, <u8>);
}

/// Compositions of affine maps, `x -> a x + b`, which do not commute: along axis 0, then along axis 1, in the four forms;
/// rows of `a`, rows of `b`.
#[kernel(threads = 128, vector = 2)]
pub fn affine_maps(
    cx: Cx,
    a: Input<i32, (D<16>, D<64>)>,
    b: Input<u64, (D<16>, D<64>)>,
    first: Output<i32, (D<8>, D<16>, D<64>)>,
    second: Output<u64, (D<8>, D<16>, D<64>)>,
) {
    let first = first.partition(cx, shape![1, 16, 64]);
    let second = second.partition(cx, shape![1, 16, 64]);
    let i = cx.bid::<0>();
    let t = (a.partition(cx, shape![16, 64]).load((0, 0)), b.partition(cx, shape![16, 64]).load((0, 0)));
    let then = |(a1, b1): (i32, u64), (a2, b2): (i32, u64)| {
        (a1.wrapping_mul(a2), (a2 as u64).wrapping_mul(b1).wrapping_add(b2))
    };
    macro_rules! stores {
        ($($row:literal: $scanned:expr;)*) => { $(
            let (a, b) = $scanned;
            first.store(a, ($row, i, 0));
            second.store(b, ($row, i, 0));
        )* };
    }
    stores! {
        0: t.scan::<0>((1, 0), then);
        1: t.scan_with::<0>((1, 0), then, Exclusive);
        2: t.scan_with::<0>((1, 0), then, Backward);
        3: t.scan_with::<0>((1, 0), then, (Exclusive, Backward));
        4: t.scan_with::<1>((1, 0), then, (Inclusive, Forward));
        5: t.scan_with::<1>((1, 0), then, (Forward, Exclusive));
        6: t.scan_with::<1>((1, 0), then, (Backward, Inclusive));
        7: t.scan_with::<1>((1, 0), then, (Backward, Exclusive));
    }
}

/// Sums that begin anew where a flag is set: along axis 0, backward along axis 1, of all.
#[kernel(threads = 128, min_blocks = 1, vector = 1)]
pub fn segmented_sums(
    cx: Cx,
    begins: Input<bool, (D<64>, D<16>)>,
    x: Input<u64, (D<64>, D<16>)>,
    results: Output<u64, (D<3>, D<64>, D<16>)>,
) {
    let results = results.partition(cx, shape![1, 64, 16]);
    let i = cx.bid::<0>();
    let t = (begins.partition(cx, shape![64, 16]).load((0, 0)), x.partition(cx, shape![64, 16]).load((0, 0)));
    let sum = |a: (bool, u64), b: (bool, u64)| (a.0 | b.0, if b.0 { b.1 } else { a.1.wrapping_add(b.1) });
    results.store(t.scan::<0>((false, 0), sum).1, (0, i, 0));
    results.store(t.scan_with::<1>((false, 0), sum, Backward).1, (1, i, 0));
    results.store(t.scan::<ALL>((false, 0), sum).1, (2, i, 0));
}

/// Sums along each axis, then exclusive ones, of rank 4; of the sums along axis 1 those along axis 2; of the
/// sums along axis 3 backward ones along axis 0; rounded to nearest even along axis 2.
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<i32>, <u8>, <f32>))]
pub fn scans_of_rank_4<T: Number>(
    cx: Cx,
    x: Input<T, (D<2>, D<4>, D<4>, D<16>)>,
    results: Output<T, (D<20>, D<4>, D<4>, D<16>)>,
) {
    let results = results.partition(cx, shape![2, 4, 4, 16]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 4, 4, 16]).load((0, 0, 0, 0));
    results.store(x.cumsum::<0>(), (0, i, 0, 0));
    results.store(x.cumsum::<1>(), (1, i, 0, 0));
    results.store(x.cumsum::<2>(), (2, i, 0, 0));
    results.store(x.cumsum::<3>(), (3, i, 0, 0));
    results.store(x.cumsum_with::<0>(Exclusive), (4, i, 0, 0));
    results.store(x.cumsum_with::<1>(Exclusive), (5, i, 0, 0));
    results.store(x.cumsum_with::<2>(Exclusive), (6, i, 0, 0));
    results.store(x.cumsum_with::<3>(Exclusive), (7, i, 0, 0));
    results.store(x.sum::<1>().cumsum::<2>(), (8, i, 0, 0));
    results.store(x.sum::<3>().cumsum_rounded::<0>(Backward, ()), (9, i, 0, 0));
}

/// Running sums of rows, rounded to nearest even by name, and of 32,768 elements: totals that go through the scratch
/// memory in rounds.
#[kernel(threads = 1024, min_blocks = 1, vector = 4, instances(<f32>, <f16>))]
pub fn large_scans<T: Number>(cx: Cx, x: Input<T, (D<8>, D<2048>)>, results: Output<T, (D<24>, D<2048>)>)
where
    NearestEven: cuda_tiles::ops::modes::ArithmeticMode<T>,
{
    let results = results.partition(cx, shape![8, 2048]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![8, 2048]).load((0, 0));
    results.store(x.cumsum_rounded::<1>(Forward, NearestEven), (0, i));
    results.store(x.cumsum::<0>(), (1, i));
    results.store(x.cumsum::<ALL>(), (2, i));
}
