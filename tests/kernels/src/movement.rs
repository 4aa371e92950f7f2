//! Elements that move within a tile: axes in another order, flips and rolls, joins, cuts, picks and counts.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

/// A matrix transposed by tiles of 64 x 64.
#[kernel(threads = 256, min_blocks = 1, vector = 4, grid = 2, instances(<i8>, <f16>, <f32>, <f64>))]
pub fn transposes<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (u32, D<128>)>,
    y: Output<T, (D<128>, Mult<u32, 64>)>,
) {
    let y = y.partition(cx, shape![64, 64]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.partition(cx, shape![64, 64]);
    y.store(x.load((i, j)).transpose::<0, 1>(), (j, i));
}

/// A matrix transposed by one tile of 64 x 128, which f64 exchanges in two rounds; and rolled.
#[kernel(threads = 512, min_blocks = 1, vector = 4, instances(<u8>, <bf16>, <i32>, <f64>))]
pub fn large_moves<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<64>, D<128>)>,
    shift: i32,
    transposed: Output<T, (D<128>, D<64>)>,
    rolled: Output<T, (D<64>, D<128>)>,
) {
    let transposed = transposed.partition(cx, shape![128, 64]);
    let rolled = rolled.partition(cx, shape![64, 128]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![64, 128]).load((0, 0));
    transposed.store(x.transpose::<0, 1>(), (i, 0));
    rolled.store(x.roll::<ALL>(shift), (i, 0));
}

/// The elements of a matrix of 32 x 16: transposed; as (4, 8, 16) with axes 2, 0, 1; as (2, 4, 4, 16) with axes reversed; as
/// (4, 8, 16) with matrices transposed; flipped along 0, 1, all; rolled along 0, 1 (backward), all by `shift`, along 0 by 5,
/// and along 1 of (128, 4), which lies in registers, by `shift`.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 4,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn orders<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<32>, D<16>)>,
    shift: i32,
    results: Output<T, (D<12>, D<512>)>,
) {
    let results = results.partition(cx, shape![1, 512]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 16]).load((0, 0));
    let (cube, high) = (x.reshape(shape![4, 8, 16]), x.reshape(shape![2, 4, 4, 16]));
    results.store(x.transpose::<0, 1>().flatten(), (0, i));
    results.store(cube.permute(axes![2, 0, 1]).flatten(), (1, i));
    results.store(high.permute(OrderF).flatten(), (2, i));
    results.store(cube.transpose::<1, 2>().flatten(), (3, i));
    results.store(x.flip::<0>().flatten(), (4, i));
    results.store(x.flip::<1>().flatten(), (5, i));
    results.store(x.flip::<ALL>().flatten(), (6, i));
    results.store(x.roll::<0>(shift).flatten(), (7, i));
    results.store(x.roll::<1>(shift.wrapping_neg()).flatten(), (8, i));
    results.store(x.roll::<ALL>(shift).flatten(), (9, i));
    results.store(x.roll::<0>(5).flatten(), (10, i));
    results.store(x.reshape(shape![128, 4]).roll::<1>(shift).flatten(), (11, i));
}

/// Two matrices of 16 x 16: joined along 0, along 1; stacked along 0, 1, 2; each element twice along 0, along 1; the first
/// twice along 1.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn joins<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<16>, D<16>)>,
    y: Input<T, (D<16>, D<16>)>,
    results: Output<T, (D<8>, D<512>)>,
) {
    let results = results.partition(cx, shape![1, 512]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 16]).load((0, 0));
    let y = y.partition(cx, shape![16, 16]).load((0, 0));
    results.store(x.cat::<0>(y).flatten(), (0, i));
    results.store(x.cat::<1>(y).flatten(), (1, i));
    results.store(x.stack::<0>(y).flatten(), (2, i));
    results.store(x.stack::<1>(y).flatten(), (3, i));
    results.store(x.stack::<2>(y).flatten(), (4, i));
    results.store(x.repeat::<0, 2>().flatten(), (5, i));
    results.store(x.repeat::<1, 2>().flatten(), (6, i));
    results.store(x.tile::<1, 2>().flatten(), (7, i));
}

/// Parts of a matrix of 32 x 16, each of 256 elements: the halves along 0 and along 1; rows 16.. and rows 5..; columns from
/// `start` on; part `i` of 16 x 16; the halves along 0 after part (`i`, `j`) of 8 x 8 took the place of part (`j`, `i`).
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 4,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn cuts<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<32>, D<16>)>,
    start: u32,
    i: u32,
    j: u32,
    results: Output<T, (D<10>, D<256>)>,
) {
    let results = results.partition(cx, shape![1, 256]);
    let own = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 16]).load((0, 0));
    let ((top, bottom), (left, right)) = (x.split::<0>(), x.split::<1>());
    results.store(top.flatten(), (0, own));
    results.store(bottom.flatten(), (1, own));
    results.store(left.flatten(), (2, own));
    results.store(right.flatten(), (3, own));
    results.store(x.slice::<0, 16, 16>().flatten(), (4, own));
    results.store(x.slice::<0, 5, 16>().flatten(), (5, own));
    results.store(x.slice_at::<1, 8>(start).flatten(), (6, own));
    results.store(x.extract(shape![16, 16], [i, 0]).flatten(), (7, own));
    let (top, bottom) = x.insert(x.extract(shape![8, 8], [i, j]), [j, i]).split::<0>();
    results.store(top.flatten(), (8, own));
    results.store(bottom.flatten(), (9, own));
}

/// A tile of (2, 4, 8, 8), each result of 512 elements: its halves along 2 exchanged; twice along 0, from the second on; both
/// matrices of rank 3 stacked along 3; part (1, 1, 0, 0) of (1, 2, 4, 8) eight times along 0; along 2 in reverse by indices;
/// flipped along 1; rolled along 3; axes 1 and 3 swapped; as a vector, rolled; that part as part (0, 0, 1, 0) of (1, 2, 4, 8).
#[kernel(threads = 64, min_blocks = 1, vector = 2, instances(<u8>, <f16>, <f32>, <i64>))]
pub fn high_ranks<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<2>, D<4>, D<8>, D<8>)>,
    results: Output<T, (D<10>, D<512>)>,
) {
    let results = results.partition(cx, shape![1, 512]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![2, 4, 8, 8]).load((0, 0, 0, 0));
    let (low, high) = x.split::<2>();
    results.store(high.cat::<2>(low).flatten(), (0, i));
    results.store(x.repeat::<0, 2>().slice::<0, 1, 2>().flatten(), (1, i));
    let (first, second) = (x.slice::<0, 0, 1>().squeeze::<0>(), x.slice::<0, 1, 1>().squeeze::<0>());
    results.store(first.stack::<3>(second).flatten(), (2, i));
    let part = x.extract(shape![1, 2, 4, 8], [1, 1, 0, 0]);
    results.store(part.tile::<0, 8>().flatten(), (3, i));
    results.store(x.take::<2>(7 - cx.iota::<i32>(shape![8])).flatten(), (4, i));
    results.store(x.flip::<1>().flatten(), (5, i));
    results.store(x.roll::<3>(3).flatten(), (6, i));
    results.store(x.transpose::<1, 3>().flatten(), (7, i));
    results.store(x.flatten().roll::<0>(-100), (8, i));
    results.store(x.insert(part, [0, 0, 1, 0]).flatten(), (9, i));
}

/// Picks from a matrix of 16 x 16: by an index matrix along 0 and along 1 (some of them outside: `padding`), rows and columns
/// by a vector of indices, both with `padding` outside, and the diagonal, repeated along rows.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 8,
    instances(<bool, i8>, <i8, i16>, <i16, i32>, <i32, i64>, <i64, u8>, <u8, u16>, <f16, u32>, <bf16, u64>, <f32, i32>, <f64, u8>)
)]
pub fn picks<T: Promote<T, Output = T>, I: Integer + Cast<i64>>(
    cx: Cx,
    x: Input<T, (D<16>, D<16>)>,
    inside: Input<I, (D<16>, D<16>)>,
    any: Input<I, (D<16>, D<16>)>,
    padding: T,
    results: Output<T, (D<9>, D<256>)>,
) {
    let results = results.partition(cx, shape![1, 256]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![16, 16]).load((0, 0));
    let inside = inside.partition(cx, shape![16, 16]).load((0, 0));
    let any = any.partition(cx, shape![16, 16]).load((0, 0));
    let (first, first_any) =
        (inside.slice::<0, 0, 1>().squeeze::<0>(), any.slice::<0, 0, 1>().squeeze::<0>());
    results.store(x.take_along_axis::<0>(inside).flatten(), (0, i));
    results.store(x.take_along_axis::<1>(inside).flatten(), (1, i));
    results.store(x.take_along_axis_masked::<0>(any, padding).flatten(), (2, i));
    results.store(x.take_along_axis_masked::<1>(any, padding).flatten(), (3, i));
    results.store(x.take::<0>(first).flatten(), (4, i));
    results.store(x.take::<1>(first).flatten(), (5, i));
    results.store(x.take_masked::<0>(first_any, padding).flatten(), (6, i));
    results.store(x.take_masked::<1>(first_any, padding).flatten(), (7, i));
    results.store(x.diagonal().broadcast(shape![16, 16]).flatten(), (8, i));
}

/// How often the numbers below 64, below 2, and below 16,384 (which takes two rounds) occur among 1,024.
#[kernel(threads = 256, min_blocks = 1, vector = 4, instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>))]
pub fn histograms<T: Integer + Cast<i64>>(
    cx: Cx,
    x: Input<T, (D<1024>,)>,
    few: Output<u32, (D<64>,)>,
    two: Output<u32, (D<2>,)>,
    many: Output<u32, (D<16384>,)>,
) {
    let few = few.partition(cx, shape![64]);
    let two = two.partition(cx, shape![2]);
    let many = many.partition(cx, shape![16384]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![1024]).load(0);
    few.store(x.histogram(shape![64]), i);
    two.store(x.histogram(shape![2]), i);
    many.store(x.histogram(shape![16384]), i);
}

/// Of 32 classes: one-hot vectors of 16 along axis 1 and along axis 0.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 4,
    instances(<i8, u64>, <i16, i8>, <i32, f32>, <i64, f16>, <u8, bf16>, <u16, i32>, <u32, f64>, <u64, u8>)
)]
pub fn one_hots<T: Integer + Cast<i64>, U: Number>(
    cx: Cx,
    x: Input<T, (D<32>,)>,
    results: Output<U, (D<2>, D<512>)>,
) {
    let results = results.partition(cx, shape![1, 512]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32]).load(0);
    results.store(x.one_hot::<U, 1, 16>().flatten(), (0, i));
    results.store(x.one_hot::<U, 0, 16>().flatten(), (1, i));
}

/// `start + k * step`; the identity of 8 x 16; a nested array of `start` and `step`; a triangle of `start` out of `step`.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 2,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn sequences<T: Number>(cx: Cx, start: T, step: T, results: Output<T, (D<4>, D<128>)>)
where
    u32: Cast<T>,
{
    let results = results.partition(cx, shape![1, 128]);
    let i = cx.bid::<0>();
    results.store(cx.arange(shape![128], start, step), (0, i));
    results.store(cx.eye::<T>(shape![8, 16]).flatten(), (1, i));
    let array = cx.tile_of([[[start, step], [step, start]], [[start, start], [T::ONE, T::ZERO]]]);
    results.store(array.tile::<0, 16>().flatten(), (2, i));
    let (row, column) = (cx.coordinate::<0>(shape![8, 16]), cx.coordinate::<1>(shape![8, 16]));
    let triangle = column.le(row).select(cx.full(shape![8, 16], start), cx.full(shape![8, 16], step));
    results.store(triangle.flatten(), (3, i));
}

/// What reductions leave of a matrix of 32 x 64, moved: the column of maxima transposed, flipped, rolled, joined with the
/// minima, its upper half, picked from by the positions of the maxima; the row of maxima transposed, flipped.
#[kernel(threads = 512, min_blocks = 1, vector = 4, instances(<i32>, <u8>, <f64>))]
pub fn reduced<T: Number>(cx: Cx, x: Input<T, (D<32>, D<64>)>, results: Output<T, (D<8>, D<64>)>) {
    let results = results.partition(cx, shape![1, 64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![32, 64]).load((0, 0));
    let (largest, smallest) = (x.max::<1>(), x.min::<1>());
    results.store(largest.transpose::<0, 1>().tile::<1, 2>().flatten(), (0, i));
    results.store(largest.flip::<0>().tile::<0, 2>().flatten(), (1, i));
    results.store(largest.roll::<0>(3).tile::<0, 2>().flatten(), (2, i));
    results.store(largest.cat::<1>(smallest).flatten(), (3, i));
    results.store(largest.split::<0>().1.repeat::<0, 4>().flatten(), (4, i));
    results.store(x.take_along_axis::<1>(x.argmax::<1>()).cat::<0>(smallest).flatten(), (5, i));
    let columns = x.max::<0>();
    results.store(columns.transpose::<1, 0>().flatten(), (6, i));
    results.store(columns.flip::<1>().flatten(), (7, i));
}
