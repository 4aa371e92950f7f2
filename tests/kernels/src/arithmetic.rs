//! Operators, minimum and maximum, logic and shifts, between tiles and with scalars on either side.

use crate::{Operand, Rows};
use cuda_tiles::prelude::*;

/// Elements of a tile; a block computes one tile.
pub const TILE: usize = 256;

/// Rows: `a + b`, `a - b`, `a * b`, `a / b`, `a % b`, minimum, maximum, both again propagating NaN, `-a`, `|a|`; then
/// `+ - * / %`, minimum and maximum with the scalar `s` in place of `b`.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn arithmetic<T: Number>(cx: Cx, a: Operand<T>, b: Operand<T>, s: T, results: Rows<T, 18>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a + b, (0, i));
    results.store_masked(a - b, (1, i));
    results.store_masked(a * b, (2, i));
    results.store_masked(a / b, (3, i));
    results.store_masked(a % b, (4, i));
    results.store_masked(a.minimum(b), (5, i));
    results.store_masked(a.maximum(b), (6, i));
    results.store_masked(a.minimum_with(b, PropagateNan), (7, i));
    results.store_masked(a.maximum_with(b, PropagateNan), (8, i));
    results.store_masked(-a, (9, i));
    results.store_masked(a.abs(), (10, i));
    results.store_masked(a + s, (11, i));
    results.store_masked(a - s, (12, i));
    results.store_masked(a * s, (13, i));
    results.store_masked(a / s, (14, i));
    results.store_masked(a % s, (15, i));
    results.store_masked(a.minimum(s), (16, i));
    results.store_masked(a.maximum(s), (17, i));
}

/// A kernel whose rows are `s + a`, `s - a`, `s * a`, `s / a`, `s % a`: the scalar's type must be known by name.
macro_rules! left_scalars {
    ($($name:ident $type:ty;)*) => { $(
        /// Rows: `s + a`, `s - a`, `s * a`, `s / a`, `s % a`.
        #[kernel(threads = 128, min_blocks = 1, vector = 2)]
        pub fn $name(cx: Cx, s: $type, a: Operand<$type>, results: Rows<$type, 5>) {
            let results = results.partition(cx, shape![1, TILE]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
            results.store_masked(s + a, (0, i));
            results.store_masked(s - a, (1, i));
            results.store_masked(s * a, (2, i));
            results.store_masked(s / a, (3, i));
            results.store_masked(s % a, (4, i));
        }
    )* };
}
left_scalars! {
    left_scalar_i8 i8;
    left_scalar_i16 i16;
    left_scalar_i32 i32;
    left_scalar_i64 i64;
    left_scalar_u8 u8;
    left_scalar_u16 u16;
    left_scalar_u32 u32;
    left_scalar_u64 u64;
    left_scalar_f16 f16;
    left_scalar_bf16 bf16;
    left_scalar_f32 f32;
    left_scalar_f64 f64;
}

/// A kernel with `f32` scalars beside tiles of a 16-bit float.
macro_rules! literals {
    ($($name:ident $type:ty;)*) => { $(
        /// Rows: `a + s`, `a - s`, `a * s`, `a / s`, `a % s`, and the same with `s` on the left.
        #[kernel(threads = 256, min_blocks = 1, vector = 8)]
        pub fn $name(cx: Cx, s: f32, a: Operand<$type>, results: Rows<$type, 10>) {
            let results = results.partition(cx, shape![1, TILE]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
            results.store_masked(a + s, (0, i));
            results.store_masked(a - s, (1, i));
            results.store_masked(a * s, (2, i));
            results.store_masked(a / s, (3, i));
            results.store_masked(a % s, (4, i));
            results.store_masked(s + a, (5, i));
            results.store_masked(s - a, (6, i));
            results.store_masked(s * a, (7, i));
            results.store_masked(s / a, (8, i));
            results.store_masked(s % a, (9, i));
        }
    )* };
}
literals! {
    literals_f16 f16;
    literals_bf16 bf16;
}

/// Rows: `a & b`, `a | b`, `a ^ b`, `!a`, `a & s`, `a | s`, `a ^ s`.
#[kernel(
    threads = 256, min_blocks = 1,
    vector = 1,
    instances(<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>)
)]
pub fn logic<T: Logical>(cx: Cx, a: Operand<T>, b: Operand<T>, s: T, results: Rows<T, 7>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a & b, (0, i));
    results.store_masked(a | b, (1, i));
    results.store_masked(a ^ b, (2, i));
    results.store_masked(!a, (3, i));
    results.store_masked(a & s, (4, i));
    results.store_masked(a | s, (5, i));
    results.store_masked(a ^ s, (6, i));
}

/// Rows: `a << amounts`, `a >> amounts`, `a << s`, `a >> s`.
#[kernel(
    threads = 128, min_blocks = 1,
    vector = 1,
    instances(
        <i8, i8>, <i16, u16>, <i32, i32>, <i64, u64>, <u8, u8>, <u16, i16>, <u32, u32>, <u64, i64>,
        <i8, i64>, <u8, u32>, <i64, i8>, <u64, u8>, <i32, u64>, <u32, i16>
    )
)]
pub fn shifts<T: Integer, U: Integer>(
    cx: Cx,
    a: Operand<T>,
    amounts: Operand<U>,
    s: u32,
    results: Rows<T, 4>,
) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let amounts = amounts.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a << amounts, (0, i));
    results.store_masked(a >> amounts, (1, i));
    results.store_masked(a << s, (2, i));
    results.store_masked(a >> s, (3, i));
}

/// Rows: `a op= b` with a row `b` that broadcasts, then with the scalar `s`, for `+ - * / % & | ^ << >>`.
#[kernel]
pub fn assignments(cx: Cx, a: Operand<i32>, b: Operand<i32>, s: i32, results: Rows<i32, 20>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i).expand_dims::<0>();
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let mut row = 0;
    macro_rules! assign {
        ($($operator:tt)*) => { $(
            let (mut with_tile, mut with_scalar) = (a, a);
            with_tile $operator b;
            with_scalar $operator s;
            results.store_masked(with_tile, (row, i));
            results.store_masked(with_scalar, (row + 10, i));
            row += 1;
        )* };
    }
    assign!(+= -= *= /= %= &= |= ^=);
    let (mut left, mut right) = (a, a);
    left <<= b;
    right >>= b;
    results.store_masked(left, (row, i));
    results.store_masked(right, (row + 1, i));
    let (mut left, mut right) = (a, a);
    left <<= s as u32;
    right >>= s as u32;
    results.store_masked(left, (row + 10, i));
    results.store_masked(right, (row + 11, i));
}
