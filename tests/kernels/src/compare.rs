//! Comparisons, classification and selection.

use crate::arithmetic::TILE;
use crate::{Input, Operand, Output, Rows};
use cuda_tiles::prelude::*;

/// Rows: `eq ne lt le gt ge` of `a` and `b`, the same of `a` and `s`, and whether `a` is NaN.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 2,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn comparisons<T: Number>(cx: Cx, a: Operand<T>, b: Operand<T>, s: T, results: Rows<bool, 13>) {
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(a.eq(b), (0, i));
    results.store_masked(a.ne(b), (1, i));
    results.store_masked(a.lt(b), (2, i));
    results.store_masked(a.le(b), (3, i));
    results.store_masked(a.gt(b), (4, i));
    results.store_masked(a.ge(b), (5, i));
    results.store_masked(a.eq(s), (6, i));
    results.store_masked(a.ne(s), (7, i));
    results.store_masked(a.lt(s), (8, i));
    results.store_masked(a.le(s), (9, i));
    results.store_masked(a.gt(s), (10, i));
    results.store_masked(a.ge(s), (11, i));
    results.store_masked(a.is_nan(), (12, i));
}

/// Rows: `eq` and `ne` of `a` and `b`.
#[kernel]
pub fn equality_of_bools(cx: Cx, a: Operand<bool>, b: Operand<bool>, results: Rows<bool, 2>) {
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(a.eq(b), (0, i));
    results.store_masked(a.ne(b), (1, i));
}

/// `a` where `condition`, else `b`; with a matrix condition, a column `a` and a row `b`, which broadcast.
#[kernel(
    threads = 64, min_blocks = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>
    )
)]
pub fn select<T: Promote<T, Output = T>>(
    cx: Cx,
    condition: Input<bool, (D<32>, D<16>)>,
    a: Input<T, (D<32>,)>,
    b: Input<T, (D<16>,)>,
    results: Output<T, (D<32>, D<16>)>,
) {
    let condition = condition.partition(cx, shape![32, 16]).load((0, 0));
    let a = a.partition(cx, shape![32]).load(0).expand_dims::<1>();
    let b = b.partition(cx, shape![16]).load(0);
    results.partition(cx, shape![32, 16]).store(condition.select(a, b), (cx.bid::<0>(), 0));
}
