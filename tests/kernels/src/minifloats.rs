//! TF32, FP8 and FP4: conversions from and to them, rounding modes, what is NaN and what infinite, paddings, and FP4 as
//! it lies in memory.
//!
//! Operands are whole tiles, as `f8e8m0` has no zero to pad with.

use crate::arithmetic::TILE;
use crate::{Operand, Row, Rows};
use cuda_tiles::prelude::*;

/// `x` cast to the types without arithmetic. Rows of `bytes`: e4m3, e5m2, ue5m3.
#[kernel(
    threads = 128, min_blocks = 1,
    instances(
        <bool>, <i8>, <i16>, <i32>, <i64>, <u8>, <u16>, <u32>, <u64>, <f16>, <bf16>, <f32>, <f64>, <tf32>, <f8e4m3>,
        <f8e5m2>, <f8e8m0>, <f8ue5m3>
    )
)]
pub fn to_minifloats<T>(cx: Cx, x: Operand<T>, bytes: Rows<u8, 3>, pairs: Row<f4e2m1x2>, words: Row<tf32>)
where
    T: Cast<f8e4m3> + Cast<f8e5m2> + Cast<f8ue5m3> + Cast<f4e2m1> + Cast<tf32>,
{
    let bytes = bytes.partition(cx, shape![1, TILE]);
    let pairs = pairs.partition(cx, shape![TILE / 2]);
    let words = words.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load(i);
    bytes.store(x.cast::<f8e4m3>().bitcast::<u8>(), (0, i));
    bytes.store(x.cast::<f8e5m2>().bitcast::<u8>(), (1, i));
    bytes.store(x.cast::<f8ue5m3>().bitcast::<u8>(), (2, i));
    pairs.store(x.cast::<f4e2m1>().pack(), i);
    words.store(x.cast::<tf32>(), i);
}

/// `x` cast from a type without arithmetic, and what it is. Rows of `tests`: as bool, whether NaN, whether infinite,
/// whether equal to itself. `chosen` has the value of bits 0 in place of NaNs.
#[kernel(threads = 64, min_blocks = 1, vector = 8, instances(<tf32>, <f8e4m3>, <f8e5m2>, <f8e8m0>, <f8ue5m3>))]
pub fn from_minifloats<T>(
    cx: Cx,
    x: Operand<T>,
    singles: Row<f32>,
    doubles: Row<f64>,
    halves: Row<f16>,
    brains: Row<bf16>,
    integers: Row<i32>,
    tests: Rows<bool, 4>,
    chosen: Row<T>,
) where
    T: Cast<f32> + Cast<f64> + Cast<f16> + Cast<bf16> + Cast<i32> + Cast<bool>,
    T: Promote<T, Output = T> + cuda_tiles::element::Classify,
{
    let singles = singles.partition(cx, shape![TILE]);
    let doubles = doubles.partition(cx, shape![TILE]);
    let halves = halves.partition(cx, shape![TILE]);
    let brains = brains.partition(cx, shape![TILE]);
    let integers = integers.partition(cx, shape![TILE]);
    let tests = tests.partition(cx, shape![1, TILE]);
    let chosen = chosen.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load(i);
    singles.store(x.cast::<f32>(), i);
    doubles.store(x.cast::<f64>(), i);
    halves.store(x.cast::<f16>(), i);
    brains.store(x.cast::<bf16>(), i);
    integers.store(x.cast::<i32>(), i);
    tests.store(x.cast::<bool>(), (0, i));
    tests.store(x.is_nan(), (1, i));
    tests.store(x.is_infinite(), (2, i));
    tests.store(x.eq(x), (3, i));
    chosen.store(x.is_nan().select(cx.full(shape![TILE], T::ZERO), x), i);
}

/// `x` as `U`, rounded by mode `R`.
#[kernel(
    threads = 32, min_blocks = 1,
    instances(
        <f64, f32, NearestEven>, <f64, f32, TowardZero>, <f64, f32, TowardNegative>, <f64, f32, TowardPositive>,
        <f64, tf32, NearestEven>, <f64, tf32, TowardZero>, <f64, f16, TowardZero>, <f64, bf16, TowardZero>,
        <f32, tf32, NearestEven>, <f32, tf32, TowardZero>, <f32, tf32, TiesAway>, <f32, f16, NearestEven>,
        <f32, f16, TowardZero>, <f32, bf16, NearestEven>, <f32, bf16, TowardZero>, <f32, f64, TiesAway>,
        <tf32, f16, TowardZero>, <tf32, bf16, TowardZero>, <f16, bf16, TowardZero>, <f16, f32, TowardPositive>,
        <bf16, f16, NearestEven>, <bf16, f16, TowardZero>, <bf16, f16, TowardNegative>, <bf16, f16, TowardPositive>,
        <bf16, f16, TiesAway>, <bf16, tf32, TowardNegative>,
        <f32, f8e8m0, TowardZero>, <f32, f8e8m0, TowardPositive>, <f64, f8e8m0, TowardZero>,
        <f64, f8e8m0, TowardPositive>, <f16, f8e8m0, TowardPositive>, <bf16, f8e8m0, TowardZero>,
        <f32, f8e4m3, NearestEven>, <f16, f8e5m2, NearestEven>, <f32, f8e4m3, Unsaturated>, <f16, f8e5m2, Unsaturated>
    )
)]
pub fn cast_in_modes<T, U, R>(cx: Cx, x: Operand<T>, y: Row<U>)
where
    T: CastWith<U, R>,
    U: Promote<U, Output = U>,
    R: Default,
{
    let y = y.partition(cx, shape![TILE]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![TILE]).load(i);
    y.store(x.cast_with::<U>(R::default()), i);
}

/// Loads tiles of which the tensor has a part, and stores what they are padded with too.
#[kernel(
    threads = 32, min_blocks = 1,
    instances(
        <tf32, Zero>, <tf32, NegativeZero>, <tf32, PositiveInfinity>, <tf32, NegativeInfinity>, <tf32, Nan>,
        <f8e4m3, Zero>, <f8e4m3, NegativeZero>, <f8e4m3, Nan>,
        <f8e5m2, Zero>, <f8e5m2, NegativeZero>, <f8e5m2, PositiveInfinity>, <f8e5m2, NegativeInfinity>, <f8e5m2, Nan>,
        <f8e8m0, Nan>, <f8ue5m3, Zero>, <f8ue5m3, Nan>, <f4e2m1x2, Zero>
    )
)]
pub fn padded<T, P>(cx: Cx, x: Span<T, (u32,)>, y: SpanMut<T, (u32,)>)
where
    T: Promote<T, Output = T>,
    P: Padding<T> + Default,
{
    let y = y.partition(cx, shape![64]);
    let i = cx.bid::<0>();
    let x = x.partition(cx, shape![64]).load_masked(P::default(), i);
    y.store(x, i);
}

/// Rows of FP4 times a scale a row, as `f32`, and back to FP4 of the halves.
#[kernel(threads = 64, min_blocks = 1, vector = 8)]
pub fn fp4_rows(
    cx: Cx,
    x: Span<f4e2m1x2, (u32, D<64>), Right, Aligned<16>>,
    scales: Span<f8e8m0, (u32, D<1>)>,
    y: SpanMut<f32, (u32, D<128>), Right, Aligned<16>>,
    z: SpanMut<f4e2m1x2, (u32, D<64>), Right, Aligned<16>>,
) {
    let y = y.partition(cx, shape![4, 128]);
    let z = z.partition(cx, shape![4, 64]);
    let i = cx.bid::<0>();
    let numbers = x.partition(cx, shape![4, 64]).load((i, 0)).unpack().cast::<f32>();
    let scales = scales.partition(cx, shape![4, 1]).load((i, 0)).cast::<f32>();
    y.store(numbers * scales, (i, 0));
    z.store((numbers * 0.5).cast::<f4e2m1>().pack(), (i, 0));
}
