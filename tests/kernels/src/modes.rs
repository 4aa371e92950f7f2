//! Rounding, flushing, approximation, as modes of operations.

use crate::{Operand, Rows};
use cuda_tiles::ops::modes::{ArithmeticMode, DivisionMode, FusedMode, RootMode};
use cuda_tiles::prelude::*;

/// Elements of a tile; a block computes one tile.
pub const TILE: usize = 256;

/// A mode of everything that IEEE 754 rounds.
pub trait Rounding<T>: ArithmeticMode<T> + FusedMode<T> + DivisionMode<T> + RootMode<T> + Default {}
impl<T, M: ArithmeticMode<T> + FusedMode<T> + DivisionMode<T> + RootMode<T> + Default> Rounding<T> for M {}

/// Operations of [`rounding`] for each mode.
pub const OPERATIONS: usize = 6;

/// Stores the rows of one mode, from row `$row` on.
macro_rules! every_operation {
    ($cx:ident, $a:ident, $b:ident, $c:ident, $results:ident: $($mode:expr, from $row:literal;)*) => {
        let i = $cx.bid::<0>();
        let a = $a.partition($cx, shape![TILE]).load_masked(Zero, i);
        let b = $b.partition($cx, shape![TILE]).load_masked(Zero, i);
        let c = $c.partition($cx, shape![TILE]).load_masked(Zero, i);
        let results = $results.partition($cx, shape![1, TILE]);
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
#[kernel(threads = 256, instances(<f16>, <bf16>, <f32>, <f64>))]
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
#[kernel(threads = 64, vector = 2)]
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
#[kernel(threads = 128)]
pub fn flushing_extrema(cx: Cx, a: Operand<f32>, b: Operand<f32>, results: Rows<f32, 4>) {
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(a.minimum_with(b, FlushToZero), (0, i));
    results.store_masked(a.maximum_with(b, (SuppressNan, FlushToZero)), (1, i));
    results.store_masked(a.minimum_with(b, (PropagateNan, FlushToZero)), (2, i));
    results.store_masked(a.maximum_with(b, (FlushToZero, PropagateNan)), (3, i));
}

/// Rows: `a / b` `Approximate`, `Full`, and both flushing; the root of `a` `Approximate`, and flushing; `exp log log2 sin
/// cos tanh exp2 rsqrt` of `a`, `Approximate`; `exp2 rsqrt` flushing; `exp exp2` in `Full`.
#[kernel(threads = 128, vector = 2)]
pub fn approximate(cx: Cx, a: Operand<f32>, b: Operand<f32>, results: Rows<f32, 18>) {
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
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
