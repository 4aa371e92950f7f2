//! Exponentials and the hyperbolic tangent of f64.

use crate::arch::float::fma_f64;
use crate::math::device::polynomial;

/// Adding this rounds to an integer and leaves it in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// Beyond this, in both directions, the result has long left the range of f64. Its purpose is only to keep
/// the scale's exponent in its field.
const EXPONENT_LIMIT: f64 = 1100.0;

/// `x` to the nearest integer, as a float and as an integer, for |x| below 2^31.
#[inline_on_device]
fn round(x: f64) -> (f64, i32) {
    let shifted = x + SHIFT;
    (shifted - SHIFT, shifted.to_bits() as i32)
}

/// `2^n` for normal results.
#[inline_on_device]
fn power_of_two(n: i32) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

/// `value · 2^n` for |n| up to twice the normal range: in two steps, of which only the second can round or
/// overflow.
#[inline_on_device]
fn scale(value: f64, n: i32) -> f64 {
    let half = n >> 1;
    value * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// `x` as `n · ln 2 + r` with `|r| <= ln 2 / 2`: `(r, n)`. The first part of ln 2 has 40 bits, so that its
/// product with `n` is exact (W. J. Cody and W. Waite, "Software Manual for the Elementary Functions", 1980).
#[inline_on_device]
fn reduce(x: f64) -> (f64, i32) {
    const LN_2_HIGH: f64 = 0.693_147_180_559_208_2;
    const LN_2_LOW: f64 = 7.371_002_565_167_799e-13;
    let (quotient, n) = round(x * core::f64::consts::LOG2_E);
    (fma_f64(quotient, -LN_2_LOW, fma_f64(quotient, -LN_2_HIGH, x)), n)
}

/// `e^r - 1` for `|r| <= ln 2 / 2`: a polynomial through Chebyshev nodes, relative error 2⁻⁶¹.
#[inline_on_device]
fn exp_minus_one(r: f64) -> f64 {
    let p = polynomial!(
        fma_f64,
        r,
        0.5,
        0.166_666_666_666_666_7,
        0.041_666_666_666_666_67,
        0.008_333_333_333_326_132,
        0.001_388_888_888_888_374_6,
        0.000_198_412_698_748_274_54,
        2.480_158_732_555_261_8e-5,
        2.755_725_539_154_403e-6,
        2.755_727_363_692_440_5e-7,
        2.510_522_060_987_055_4e-8,
        2.091_468_954_254_955e-9
    );
    fma_f64(p, r * r, r)
}

/// `e^x`, within 1 ulp; subnormal results are kept.
#[inline_on_device]
pub fn exp(x: f64) -> f64 {
    if x > EXPONENT_LIMIT {
        f64::INFINITY
    } else if x < -EXPONENT_LIMIT {
        0.0
    } else {
        let (r, n) = reduce(x);
        scale(1.0 + exp_minus_one(r), n)
    }
}

/// `2^x`, within 1 ulp; exact for integers, subnormal results are kept.
///
/// With `n` the nearest integer, `2^(x - n)` is a polynomial through Chebyshev nodes of relative error
/// 2⁻⁵⁵·⁵.
#[inline_on_device]
pub fn exp2(x: f64) -> f64 {
    if x > EXPONENT_LIMIT {
        f64::INFINITY
    } else if x < -EXPONENT_LIMIT {
        0.0
    } else {
        let (integer, n) = round(x);
        let r = x - integer;
        let value = polynomial!(
            fma_f64,
            r,
            1.0,
            core::f64::consts::LN_2,
            0.240_226_506_959_100_72,
            0.055_504_108_664_821_58,
            0.009_618_129_107_628_484,
            0.001_333_355_814_642_844_5,
            0.000_154_035_303_933_627_52,
            1.525_273_380_405_112_9e-5,
            1.321_548_681_600_308_2e-6,
            1.017_808_602_118_690_9e-7,
            7.054_894_384_968_636_4e-9,
            4.445_530_308_467_693e-10,
            2.573_357_051_627_959e-11,
            1.371_696_341_258_950_2e-12
        );
        scale(value, n)
    }
}

/// Hyperbolic tangent, within 2 ulp: with `t = e^(2|x|) - 1` it is `t / (t + 2)`, or `1 - 2 / (t + 2)` when
/// that cancels little.
#[inline_on_device]
pub fn tanh(x: f64) -> f64 {
    /// From here on the result is 1 rounded.
    const SATURATED: f64 = 20.0;
    let magnitude = x.abs();
    let value = if magnitude > SATURATED {
        1.0
    } else {
        let (r, n) = reduce(2.0 * magnitude);
        let power = power_of_two(n);
        let t = fma_f64(power, exp_minus_one(r), power - 1.0);
        let denominator = t + 2.0;
        if t > 2.0 {
            1.0 - 2.0 / denominator
        } else {
            let quotient = t / denominator;
            // What the sum and the division rounded away, times 1 / (t + 2), which is (1 - tanh |x|) / 2.
            let rounded_away = t - (denominator - 2.0);
            let remainder = fma_f64(-quotient, rounded_away, fma_f64(-quotient, denominator, t));
            fma_f64(remainder, 0.5 - 0.5 * quotient, quotient)
        }
    };
    value.copysign(x)
}
