//! Creation, reshaping, broadcasting and single elements.

use crate::arithmetic::TILE;
use crate::{Input, Operand, Output, Rows};
use cuda_tiles::prelude::*;

/// Rows: the numbers 0, 1, 2 ..., `s` throughout, zeros, ones.
#[kernel(
    threads = 32, min_blocks = 1,
    vector = 4,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>)
)]
pub fn creations<T: Integer>(cx: Cx, s: T, results: Output<T, (D<4>, D<128>)>)
where
    u32: Cast<T>,
{
    let results = results.partition(cx, shape![1, 128]);
    let i = cx.bid::<0>();
    results.store(cx.iota::<T>(shape![128]), (0, i));
    results.store(cx.full(shape![2, 64], s).reshape(shape![128]), (1, i));
    results.store(cx.zeros::<T>(shape![1, 128]), (2, i));
    results.store(cx.ones::<T>(shape![1]), (3, i));
}

/// Rows: `s` throughout, the scalar tile `s`, zeros.
#[kernel(threads = 1024, min_blocks = 1, vector = 4, instances(<bool>, <f16>, <bf16>, <f32>, <f64>))]
pub fn constants<T: Promote<T, Output = T>>(cx: Cx, s: T, results: Output<T, (D<3>, D<128>)>) {
    let results = results.partition(cx, shape![1, 128]);
    let i = cx.bid::<0>();
    results.store(cx.full(shape![128], s), (0, i));
    results.store(cx.scalar(s), (1, i));
    results.store(cx.zeros::<T>(shape![128]), (2, i));
}

/// A matrix `m`, a column `c` and a row `r`: `m - c`, `m - r`, `c - m`, `r - m`, `c - r`, `c` broadcast, `r` broadcast,
/// `s - m` with a scalar tile.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn broadcasts<T: Number>(
    cx: Cx,
    m: Input<T, (D<32>, D<16>)>,
    c: Input<T, (D<32>,)>,
    r: Input<T, (D<16>,)>,
    s: T,
    results: Output<T, (D<8>, D<32>, D<16>)>,
) {
    let results = results.partition(cx, shape![1, 32, 16]);
    let i = cx.bid::<0>();
    let m = m.partition(cx, shape![32, 16]).load((0, 0));
    let c = c.partition(cx, shape![32]).load(0).expand_dims::<1>();
    let r = r.partition(cx, shape![16]).load(0);
    results.store(m - c, (0, i, 0));
    results.store(m - r, (1, i, 0));
    results.store(c - m, (2, i, 0));
    results.store(r.expand_dims::<0>() - m, (3, i, 0));
    results.store(c - r, (4, i, 0));
    results.store(c.broadcast(shape![32, 16]), (5, i, 0));
    results.store(r.broadcast(shape![1, 32, 16]), (6, i, 0));
    results.store(cx.scalar(s) - m, (7, i, 0));
}

/// `a + b` of shapes (8, 1, 16) and (4, 1), and `c + (a + b)` with `c` of shape (2, 1, 1, 1).
#[kernel(threads = 256, min_blocks = 1, vector = 8, instances(<i8>, <i32>, <f16>, <f32>, <f64>))]
pub fn broadcasts_of_high_rank<T: Number>(
    cx: Cx,
    a: Input<T, (D<8>, D<1>, D<16>)>,
    b: Input<T, (D<4>, D<1>)>,
    c: Input<T, (D<2>,)>,
    rank_3: Output<T, (D<8>, D<4>, D<16>)>,
    rank_4: Output<T, (D<2>, D<8>, D<4>, D<16>)>,
) {
    let rank_3 = rank_3.partition(cx, shape![8, 4, 16]);
    let rank_4 = rank_4.partition(cx, shape![2, 8, 4, 16]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![8, 1, 16]).load((0, 0, 0));
    let b = b.partition(cx, shape![4, 1]).load((0, 0));
    let c = c.partition(cx, shape![2]).load(0).reshape(shape![2, 1, 1, 1]);
    rank_3.store(a + b, (i, 0, 0));
    rank_4.store(c + (a + b), (i, 0, 0, 0));
}

/// `column - row`: the column of 8,192 elements goes through shared memory in several rounds.
#[kernel(threads = 512, min_blocks = 1, instances(<u8>, <f16>, <i32>, <f32>, <f64>))]
pub fn large_column<T: Number>(
    cx: Cx,
    column: Input<T, (D<8192>,)>,
    row: Input<T, (D<2>,)>,
    results: Output<T, (D<8192>, D<2>)>,
) {
    let column = column.partition(cx, shape![8192]).load(0).expand_dims::<1>();
    let row = row.partition(cx, shape![2]).load(0);
    results.partition(cx, shape![8192, 2]).store(column - row, (cx.bid::<0>(), 0));
}

/// The elements of `x` as a matrix, as a tensor of rank 4, and there and back.
#[kernel(
    threads = 64, min_blocks = 1,
    vector = 2,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn reshapes<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (D<512>,)>,
    matrix: Output<T, (D<8>, D<64>)>,
    rank_4: Output<T, (D<2>, D<4>, D<8>, D<8>)>,
    back: Output<T, (D<512>,)>,
) {
    let matrix = matrix.partition(cx, shape![8, 64]);
    let rank_4 = rank_4.partition(cx, shape![2, 4, 8, 8]);
    let back = back.partition(cx, shape![512]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![512]).load(0);
    matrix.store(x.reshape(shape![8, 64]), (i, 0));
    rank_4.store(x.reshape(shape![2, 4, 8, 8]), (i, 0, 0, 0));
    let there = x.reshape(shape![16, 32]).expand_dims::<1>().expand_dims::<0>();
    back.store(there.flatten(), i);
}

/// Element (i, j) of one matrix tile, as seen by block (i, j): by `at`, and by `item` of a tile of that element alone;
/// and the sum of row i, by `at` of the reduced tile.
#[kernel(
    threads = 128, min_blocks = 1,
    grid = 2,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn elements<T: Number>(cx: Cx, x: Input<T, (D<16>, D<32>)>, results: Output<T, (D<3>, D<16>, D<32>)>) {
    let results = results.partition(cx, shape![1, 1, 1]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let tile = x.partition(cx, shape![16, 32]).load((0, 0));
    results.store(cx.scalar(tile.at([*i, *j])), (0, i, j));
    results.store(cx.scalar(x.partition(cx, shape![1, 1]).load((i, j)).item()), (1, i, j));
    results.store(cx.scalar(tile.sum::<1>().at([*i, 0])), (2, i, j));
}

/// `x * x` where it is odd, else `x`, by `map`; `3 * x - y` by `zip_map`.
#[kernel(threads = 256, min_blocks = 1)]
pub fn maps(cx: Cx, x: Operand<i32>, y: Operand<i32>, results: Rows<i32, 2>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let y = y.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.map(|x| if x & 1 == 1 { x.wrapping_mul(x) } else { x }), (0, i));
    results.store_masked(x.zip_map(y, |x, y| x.wrapping_mul(3).wrapping_sub(y)), (1, i));
}

/// `x / 2 + x`, by turns: of 32 elements for each thread, of 32 bits that become 64.
#[kernel(threads = 32, min_blocks = 1)]
pub fn maps_by_turns(cx: Cx, x: Operand<i32>, results: Rows<i64, 1>) {
    let results = results.partition(cx, shape![1, 1024]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![1024]).load_masked(Zero, i);
    results.store_masked(x.map_by_turns(|x| i64::from(x / 2) + i64::from(x)), (0, i));
}
