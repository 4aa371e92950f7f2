//! Functions of floats.

use crate::arithmetic::TILE;
use crate::{Operand, Rows};
use cuda_tiles::prelude::*;

/// Rows: exp exp2 log log2 sqrt rsqrt sin cos tan tanh floor ceil.
#[kernel(threads = 128, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn functions<T: Float>(cx: Cx, x: Operand<T>, results: Rows<T, 12>) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
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
#[kernel(threads = 256, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn fused<T: Float>(cx: Cx, a: Operand<T>, b: Operand<T>, c: Operand<T>, s: T, results: Rows<T, 3>) {
    let i = cx.bid::<0>();
    let a = a.partition(cx, shape![TILE]).load_masked(Zero, i);
    let b = b.partition(cx, shape![TILE]).load_masked(Zero, i);
    let c = c.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(a.fma(b, c), (0, i));
    results.store_masked(a.fma(s, c), (1, i));
    results.store_masked(a.fma(b, s), (2, i));
}

/// Rows: whether `x` is infinite, whether it is NaN.
#[kernel(threads = 256, vector = 2, instances(<f16>, <bf16>, <f32>, <f64>))]
pub fn classes<T: Float>(cx: Cx, x: Operand<T>, results: Rows<bool, 2>) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(x.is_infinite(), (0, i));
    results.store_masked(x.is_nan(), (1, i));
}

/// Rows: exp exp2 log log2 rsqrt reciprocal sin cos tanh of `x`, approximately, and `x / y` approximately.
#[kernel(threads = 128)]
pub fn approximations(cx: Cx, x: Operand<f32>, y: Operand<f32>, results: Rows<f32, 10>) {
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load_masked(Zero, i);
    let y = y.partition(cx, shape![TILE]).load_masked(Zero, i);
    let results = results.partition(cx, shape![1, TILE]);
    results.store_masked(x.exp_approximate(), (0, i));
    results.store_masked(x.exp2_approximate(), (1, i));
    results.store_masked(x.log_approximate(), (2, i));
    results.store_masked(x.log2_approximate(), (3, i));
    results.store_masked(x.rsqrt_approximate(), (4, i));
    results.store_masked(x.reciprocal_approximate(), (5, i));
    results.store_masked(x.sin_approximate(), (6, i));
    results.store_masked(x.cos_approximate(), (7, i));
    results.store_masked(x.tanh_approximate(), (8, i));
    results.store_masked(x.zip_map(y, |x, y| x.divide_approximate(y)), (9, i));
}
