//! Functions of floats.

use crate::{Operand, Output, Rows};
use cuda_tiles::prelude::*;

/// Elements of a tile; a block computes one tile.
pub const TILE: usize = 256;

/// Rows: exp exp2 log log2 sqrt rsqrt sin cos tan tanh floor ceil.
#[kernel(threads = 128, min_blocks = 1, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn functions<T: Float>(cx: Cx, x: Operand<T>, results: Rows<T, 12>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.exp(), (0, i));
    results.store_masked(x.exp2(), (1, i));
    results.store_masked(x.log(), (2, i));
    results.store_masked(x.log2(), (3, i));
    results.store_masked(x.sqrt(), (4, i));
    results.store_masked(x.rsqrt(), (5, i));
    results.store_masked(x.sin(), (6, i));
    results.store_masked(x.cos(), (7, i));
    results.store_masked(x.tan(), (8, i));
    results.store_masked(x.tanh(), (9, i));
    results.store_masked(x.floor(), (10, i));
    results.store_masked(x.ceil(), (11, i));
}

/// Rows: `a * b + c` rounded once, `a * s + c`, `a * b + s`.
#[kernel(threads = 256, min_blocks = 1, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn fused<T: Float>(cx: Cx, a: Operand<T>, b: Operand<T>, c: Operand<T>, s: T, results: Rows<T, 3>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let c = c.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(a.fma(b, c), (0, i));
    results.store_masked(a.fma(s, c), (1, i));
    results.store_masked(a.fma(b, s), (2, i));
}

/// Rows: whether `x` is infinite, whether it is NaN.
#[kernel(threads = 256, min_blocks = 1, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn classes<T: Float>(cx: Cx, x: Operand<T>, results: Rows<bool, 2>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.is_infinite(), (0, i));
    results.store_masked(x.is_nan(), (1, i));
}

/// Rows: asin acos atan asinh acosh atanh.
#[kernel(threads = 128, min_blocks = 1, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn inverses<T: Float>(cx: Cx, x: Operand<T>, results: Rows<T, 6>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.asin(), (0, i));
    results.store_masked(x.acos(), (1, i));
    results.store_masked(x.atan(), (2, i));
    results.store_masked(x.asinh(), (3, i));
    results.store_masked(x.acosh(), (4, i));
    results.store_masked(x.atanh(), (5, i));
}

/// Rows: exp10 expm1 log10 log1p sinh cosh cbrt.
#[kernel(threads = 128, min_blocks = 1, vector = 1, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn exponentials<T: Float>(cx: Cx, x: Operand<T>, results: Rows<T, 7>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.exp10(), (0, i));
    results.store_masked(x.expm1(), (1, i));
    results.store_masked(x.log10(), (2, i));
    results.store_masked(x.log1p(), (3, i));
    results.store_masked(x.sinh(), (4, i));
    results.store_masked(x.cosh(), (5, i));
    results.store_masked(x.cbrt(), (6, i));
}

/// Rows: reciprocal erf erfc sigmoid silu softplus gelu gelu_tanh.
#[kernel(threads = 256, min_blocks = 1, vector = 1, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn activations<T: Float>(cx: Cx, x: Operand<T>, results: Rows<T, 8>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.reciprocal(), (0, i));
    results.store_masked(x.erf(), (1, i));
    results.store_masked(x.erfc(), (2, i));
    results.store_masked(x.sigmoid(), (3, i));
    results.store_masked(x.silu(), (4, i));
    results.store_masked(x.softplus(), (5, i));
    results.store_masked(x.gelu(), (6, i));
    results.store_masked(x.gelu_tanh(), (7, i));
}

/// Rows: `x.atan2(y)`, `x.hypot(y)`, `x^y`, `x^n`, `x^s`, `x^k`, `x` to the power of whether `n` is not zero.
#[kernel(threads = 256, min_blocks = 1, vector = 1, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn powers<T: Float>(
    cx: Cx,
    x: Operand<T>,
    y: Operand<T>,
    n: Operand<i32>,
    s: T,
    k: i32,
    results: Rows<T, 7>,
) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let y = y.partition(cx, shape![TILE]).load_masked(Zero, i);
    let n = n.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.atan2(y), (0, i));
    results.store_masked(x.hypot(y), (1, i));
    results.store_masked(x.pow(y), (2, i));
    results.store_masked(x.powi(n), (3, i));
    results.store_masked(x.pow(s), (4, i));
    results.store_masked(x.powi(k), (5, i));
    results.store_masked(x.powi(n.cast::<bool>()), (6, i));
}

/// Rows and columns of the tiles of [`broadcast_powers`].
pub const ROWS: usize = 8;
/// Columns of the tiles of [`broadcast_powers`].
pub const COLUMNS: usize = 32;

/// `x^n` for each element `x` of a column and each exponent `n` of a row, then the same with a row and a cube.
#[kernel(threads = 64, min_blocks = 1, vector = 1)]
pub fn broadcast_powers(
    cx: Cx,
    x: Operand<f32>,
    n: Operand<i8>,
    results: Output<f32, (D<2>, D<2>, D<ROWS>, D<COLUMNS>)>,
) {
    let x = x.partition(cx, shape![ROWS]).load(0).reshape(shape![ROWS, 1]);
    let n = n.partition(cx, shape![COLUMNS]).load(0);
    let results = results.partition(cx, shape![1, 1, ROWS, COLUMNS]);
    let block = cx.bid::<0>();
    results.store(x.powi(n).reshape(shape![1, 1, ROWS, COLUMNS]), (block, 0, 0, 0));
    let cube = n.reshape(shape![1, 1, 1, COLUMNS]);
    results.store(x.reshape(shape![1, 1, ROWS, 1]).powi(cube), (block, 1, 0, 0));
}

/// Rows: exp exp2 log log2 rsqrt reciprocal sin cos tanh sqrt sigmoid silu softplus gelu_tanh of `x`, approximately, and `x / y`
/// approximately.
#[kernel(threads = 128, min_blocks = 1, vector = 2, instances(<f16>, <bf16>, <f32>))]
pub fn approximations<T: ApproximateFloat>(cx: Cx, x: Operand<T>, y: Operand<T>, results: Rows<T, 15>) {
    let results = results.partition(cx, shape![1, TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let y = y.partition(cx, shape![TILE]).load_masked(Zero, i);
    results.store_masked(x.exp_approximate(), (0, i));
    results.store_masked(x.exp2_approximate(), (1, i));
    results.store_masked(x.log_approximate(), (2, i));
    results.store_masked(x.log2_approximate(), (3, i));
    results.store_masked(x.rsqrt_approximate(), (4, i));
    results.store_masked(x.reciprocal_approximate(), (5, i));
    results.store_masked(x.sin_approximate(), (6, i));
    results.store_masked(x.cos_approximate(), (7, i));
    results.store_masked(x.tanh_approximate(), (8, i));
    results.store_masked(x.sqrt_approximate(), (9, i));
    results.store_masked(x.sigmoid_approximate(), (10, i));
    results.store_masked(x.silu_approximate(), (11, i));
    results.store_masked(x.softplus_approximate(), (12, i));
    results.store_masked(x.gelu_tanh_approximate(), (13, i));
    results.store_masked(x.zip_map(y, |x, y| x.divide_approximate(y)), (14, i));
}
