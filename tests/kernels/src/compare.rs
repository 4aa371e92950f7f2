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
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
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

/// Rows: `eq ne lt le gt ge` of `a` and `b`, minimum and maximum, the running maximum of `a`; then in the first elements of a row
/// the minimum and the maximum of all of `a`, and whether the first largest one is where `a` is first true.
#[kernel]
pub fn order_of_bools(cx: Cx, a: Operand<bool>, b: Operand<bool>, results: Rows<bool, 10>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.eq(b), (0, i));
    results.store_masked(a.ne(b), (1, i));
    results.store_masked(a.lt(b), (2, i));
    results.store_masked(a.le(b), (3, i));
    results.store_masked(a.gt(b), (4, i));
    results.store_masked(a.ge(b), (5, i));
    results.store_masked(a.minimum(b), (6, i));
    results.store_masked(a.maximum(b), (7, i));
    results.store_masked(a.cummax::<0>(), (8, i));
    let place = cx.coordinate::<0>(shape![TILE]);
    let first = place.eq(a.argmax::<0>());
    let whole = place.eq(0).select(a.min::<0>(), place.eq(1).select(a.max::<0>(), first));
    results.store_masked(whole, (9, i));
}

/// Rows: `eq ne lt le gt ge` of the pointers with the addresses `a` and `b`.
#[kernel]
pub fn order_of_pointers(cx: Cx, a: Operand<u64>, b: Operand<u64>, results: Rows<bool, 6>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i).bitcast::<Pointer<f32>>();
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i).bitcast::<Pointer<f32>>();
    results.store_masked(a.eq(b), (0, i));
    results.store_masked(a.ne(b), (1, i));
    results.store_masked(a.lt(b), (2, i));
    results.store_masked(a.le(b), (3, i));
    results.store_masked(a.gt(b), (4, i));
    results.store_masked(a.ge(b), (5, i));
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
