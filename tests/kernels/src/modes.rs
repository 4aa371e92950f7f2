//! Rounding, flushing, approximation, as modes of operations.

use crate::{Input, Operand, Output, Rows};
use cuda_tiles::ops::modes::{ArithmeticMode, DivisionMode, FusedMode, RootMode};
use cuda_tiles::prelude::*;

/// Elements of a tile; a block computes one tile.
pub const TILE: usize = 256;

/// A mode of everything that IEEE 754 rounds.
pub trait Rounding<T: Number>:
    ArithmeticMode<T> + FusedMode<T> + DivisionMode<T> + RootMode<T> + Default
{
}
impl<T: Number, M: ArithmeticMode<T> + FusedMode<T> + DivisionMode<T> + RootMode<T> + Default> Rounding<T>
    for M
{
}

/// Operations of [`rounding`] for each mode.
pub const OPERATIONS: usize = 6;

/// Stores the rows of one mode, from row `$row` on.
macro_rules! every_operation {
    ($cx:ident, $a:ident, $b:ident, $c:ident, $results:ident: $($mode:expr, from $row:literal;)*) => {
        let results = $results.partition($cx, shape![1, TILE]);
        let i = $cx.bid::<0>();
        let a = $a.partition($cx, shape![TILE]).load_masked(Zero, i);
        let b = $b.partition($cx, shape![TILE]).load_masked(Zero, i);
        let c = $c.partition($cx, shape![TILE]).load_masked(Zero, i);
        $(
            results.store_masked(a.add_with(b, $mode), ($row, i));
            results.store_masked(a.sub_with(b, $mode), ($row + 1, i));
            results.store_masked(a.mul_with(b, $mode), ($row + 2, i));
            results.store_masked(a.div_with(b, $mode), ($row + 3, i));
            results.store_masked(a.fma_with(b, c, $mode), ($row + 4, i));
            results.store_masked(a.sqrt_with($mode), ($row + 5, i));
        )*
    };
}

/// Rows: `a + b`, `a - b`, `a * b`, `a / b`, `a * b + c`, the root of `a`; rounded to nearest, toward zero, down, up.
#[kernel(threads = 256, min_blocks = 1, vector = 1, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn rounding<T: Float>(
    cx: Cx,
    a: Operand<T>,
    b: Operand<T>,
    c: Operand<T>,
    results: Rows<T, { 4 * OPERATIONS }>,
) where
    NearestEven: Rounding<T>,
    TowardZero: Rounding<T>,
    TowardNegative: Rounding<T>,
    TowardPositive: Rounding<T>,
{
    every_operation! { cx, a, b, c, results:
        NearestEven, from 0;
        TowardZero, from 6;
        TowardNegative, from 12;
        TowardPositive, from 18;
    }
}

/// Rows: those of [`rounding`], flushing.
#[kernel(threads = 64, min_blocks = 1, vector = 2)]
pub fn flushing(
    cx: Cx,
    a: Operand<f32>,
    b: Operand<f32>,
    c: Operand<f32>,
    results: Rows<f32, { 4 * OPERATIONS }>,
) {
    every_operation! { cx, a, b, c, results:
        FlushToZero, from 0;
        (TowardZero, FlushToZero), from 6;
        (FlushToZero, TowardNegative), from 12;
        (TowardPositive, FlushToZero), from 18;
    }
}

/// Rows: minimum and maximum, flushing; then propagating NaN.
#[kernel(threads = 128, min_blocks = 1)]
pub fn flushing_extrema(cx: Cx, a: Operand<f32>, b: Operand<f32>, results: Rows<f32, 4>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.minimum_with(b, FlushToZero), (0, i));
    results.store_masked(a.maximum_with(b, (SuppressNan, FlushToZero)), (1, i));
    results.store_masked(a.minimum_with(b, (PropagateNan, FlushToZero)), (2, i));
    results.store_masked(a.maximum_with(b, (FlushToZero, PropagateNan)), (3, i));
}

/// Rows: `a / b` `Approximate`, `Full`, and both flushing; the root of `a` `Approximate`, and flushing; `exp log log2 sin
/// cos tanh exp2 rsqrt` of `a`, `Approximate`; `exp2 rsqrt` flushing; `exp exp2` in `Full`.
#[kernel(threads = 128, min_blocks = 1, vector = 2)]
pub fn approximate(cx: Cx, a: Operand<f32>, b: Operand<f32>, results: Rows<f32, 18>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.div_with(b, Approximate), (0, i));
    results.store_masked(a.div_with(b, Full), (1, i));
    results.store_masked(a.div_with(b, (Approximate, FlushToZero)), (2, i));
    results.store_masked(a.div_with(b, (FlushToZero, Full)), (3, i));
    results.store_masked(a.sqrt_with(Approximate), (4, i));
    results.store_masked(a.sqrt_with((Approximate, FlushToZero)), (5, i));
    results.store_masked(a.exp_with(Approximate), (6, i));
    results.store_masked(a.log_with(Approximate), (7, i));
    results.store_masked(a.log2_with(Approximate), (8, i));
    results.store_masked(a.sin_with(Approximate), (9, i));
    results.store_masked(a.cos_with(Approximate), (10, i));
    results.store_masked(a.tanh_with(Approximate), (11, i));
    results.store_masked(a.exp2_with(Approximate), (12, i));
    results.store_masked(a.rsqrt_with(Approximate), (13, i));
    results.store_masked(a.exp2_with(FlushToZero), (14, i));
    results.store_masked(a.rsqrt_with(FlushToZero), (15, i));
    results.store_masked(a.exp_with(Full), (16, i));
    results.store_masked(a.exp2_with(Full), (17, i));
}

/// Results of [`broadcasting`].
pub const BROADCASTS: usize = 8;

/// Operands of ranks 1 to 4 that broadcast: `a` is a matrix, `b` a row, `c` a column.
///
/// `c + b` toward zero, `c * a + b` up, `a` clamped to `c` and `b`, both results of `divmod` of `a` and `b`, `a` where `c < b`
/// else 7, 7 where `c < b` else `b`, `b / a` down with `b` of rank 4.
#[kernel(threads = 64, min_blocks = 1, vector = 2)]
pub fn broadcasting(
    cx: Cx,
    a: Input<f32, (D<16>, D<32>)>,
    b: Input<f32, (D<32>,)>,
    c: Input<f32, (D<16>,)>,
    results: Output<f32, (D<BROADCASTS>, D<16>, D<32>)>,
) {
    let a = a.partition(cx, shape![16, 32]).load((0, 0));
    let b = b.partition(cx, shape![32]).load(0);
    let c = c.partition(cx, shape![16]).load(0).expand_dims::<1>();
    let results = results.partition(cx, shape![1, 16, 32]);
    let i = cx.bid::<0>();
    let (quotient, rest) = a.divmod(b);
    let condition = c.lt(b);
    let deep = b.expand_dims::<0>().expand_dims::<0>().expand_dims::<0>();
    macro_rules! rows {
        ($($row:literal: $result:expr;)*) => { $( results.store($result.reshape(shape![1, 16, 32]), ($row, i, 0)); )* };
    }
    rows! {
        0: c.add_with(b, TowardZero);
        1: c.fma_with(a, b, TowardPositive);
        2: a.clamp(c, b);
        3: quotient;
        4: rest;
        5: condition.select(a, 7.0);
        6: condition.select(7.0, b);
        7: deep.div_with(a, TowardNegative);
    }
}
