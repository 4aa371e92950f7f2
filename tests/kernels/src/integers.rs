//! Division in all its roundings, of integers and floats, and what only integers have; logic of numbers.

use crate::{Operand, Rows};
use cuda_tiles::prelude::*;

/// Elements of a tile; a block computes one tile.
pub const TILE: usize = 256;

/// Rows: `floor_div ceil_div modulo`, both of `div_rem`, both of `divmod`; then `sign` of `a`, and `a` clamped to `b` and `c`.
#[kernel(
    threads = 256, min_blocks = 1,
    instances(<i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn division<T: Number>(cx: Cx, a: Operand<T>, b: Operand<T>, c: Operand<T>, results: Rows<T, 9>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let c = c.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.floor_div(b), (0, i));
    results.store_masked(a.ceil_div(b), (1, i));
    results.store_masked(a.modulo(b), (2, i));
    let (quotient, rest) = a.div_rem(b);
    results.store_masked(quotient, (3, i));
    results.store_masked(rest, (4, i));
    let (quotient, rest) = a.divmod(b);
    results.store_masked(quotient, (5, i));
    results.store_masked(rest, (6, i));
    results.store_masked(a.sign(), (7, i));
    results.store_masked(a.clamp(b, c), (8, i));
}

/// Rows: `a` by the constants 7 and 10 with `/ % floor_div ceil_div modulo`; the types must be known by name.
macro_rules! constant_divisors {
    ($($name:ident $type:ident;)*) => { $(
        /// Rows: `a / 7`, `a % 7`, and `floor_div ceil_div modulo` by 10.
        #[kernel(threads = 128, min_blocks = 1)]
        pub fn $name(cx: Cx, a: Operand<$type>, results: Rows<$type, 5>) {
            let results = results.partition(cx, shape![1, TILE]);
            let i = cx.bid::<0>();
            let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
            results.store_masked(a / 7, (0, i));
            results.store_masked(a % 7, (1, i));
            results.store_masked(a.floor_div(10), (2, i));
            results.store_masked(a.ceil_div(10), (3, i));
            results.store_masked(a.modulo(10), (4, i));
        }
    )* };
}
constant_divisors! {
    by_constants_i8 i8;
    by_constants_i32 i32;
    by_constants_u64 u64;
}

/// Rows: `mul_hi`, saturating `+ - *`, `rotate_left rotate_right` by `amounts`, the same by `s`, then `count_ones
/// leading_zeros trailing_zeros reverse_bits` of `a`. And `distances`, `abs_diff`.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(<i8, u8>, <i16, u16>, <i32, u32>, <i64, u64>, <u8, u8>, <u16, u16>, <u32, u32>, <u64, u64>)
)]
pub fn integers<T: Integer<Unsigned = U>, U: Integer>(
    cx: Cx,
    a: Operand<T>,
    b: Operand<T>,
    amounts: Operand<i16>,
    s: u32,
    results: Rows<T, 12>,
    distances: Rows<U, 1>,
) {
    let results = results.partition(cx, shape![1, TILE]);
    let distances = distances.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let amounts = amounts.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.mul_hi(b), (0, i));
    results.store_masked(a.saturating_add(b), (1, i));
    results.store_masked(a.saturating_sub(b), (2, i));
    results.store_masked(a.saturating_mul(b), (3, i));
    results.store_masked(a.rotate_left(amounts), (4, i));
    results.store_masked(a.rotate_right(amounts), (5, i));
    results.store_masked(a.rotate_left(s), (6, i));
    results.store_masked(a.rotate_right(s), (7, i));
    results.store_masked(a.count_ones(), (8, i));
    results.store_masked(a.leading_zeros(), (9, i));
    results.store_masked(a.trailing_zeros(), (10, i));
    results.store_masked(a.reverse_bits(), (11, i));
    distances.store_masked(a.abs_diff(b), (0, i));
}

/// Rows: `a` with the signs of `b`, and of `s`; `trunc round_even floor ceil` of `a`.
#[kernel(threads = 128, min_blocks = 1, vector = 4, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn whole_numbers<T: Float>(cx: Cx, a: Operand<T>, b: Operand<T>, s: T, results: Rows<T, 6>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.copysign(b), (0, i));
    results.store_masked(a.copysign(s), (1, i));
    results.store_masked(a.trunc(), (2, i));
    results.store_masked(a.round_even(), (3, i));
    results.store_masked(a.floor(), (4, i));
    results.store_masked(a.ceil(), (5, i));
}

/// Rows: `logical_and logical_or logical_xor` of `a` and `b`, `logical_not` of `a`; and in `chosen`, where `a` is nonzero:
/// `a` else `s`, `s` else `b`, `s` else `t`.
#[kernel(
    threads = 64, min_blocks = 1,
    instances(<bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>)
)]
pub fn logic_of_numbers<T: Cast<bool> + Promote<T, Output = T>>(
    cx: Cx,
    a: Operand<T>,
    b: Operand<T>,
    s: T,
    t: T,
    results: Rows<bool, 4>,
    chosen: Rows<T, 3>,
) {
    let results = results.partition(cx, shape![1, TILE]);
    let chosen = chosen.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.logical_and(b), (0, i));
    results.store_masked(a.logical_or(b), (1, i));
    results.store_masked(a.logical_xor(b), (2, i));
    results.store_masked(a.logical_not(), (3, i));
    let condition = a.cast::<bool>();
    chosen.store_masked(condition.select(a, s), (0, i));
    chosen.store_masked(condition.select(s, b), (1, i));
    chosen.store_masked(condition.select(s, t), (2, i));
}
