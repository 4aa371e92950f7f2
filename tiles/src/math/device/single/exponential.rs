//! Exponentials and the hyperbolic tangent of f32, on top of the device's `ex2.approx`.

use crate::arch::float::{
    exp2_approximate_flush_f32, fma_f32, fma_round_down_f32, fma_saturating_f32,
    reciprocal_approximate_flush_f32,
};
use crate::math::device::polynomial;

/// log2 e as the sum of two f32, for the two steps of W. J. Cody and W. Waite's argument reduction ("Software
/// Manual for the Elementary Functions", 1980).
const LOG2_E_HIGH: f32 = core::f32::consts::LOG2_E;
const LOG2_E_LOW: f32 = 1.925_963e-8;

/// `e^x`, within 2 ulp; subnormal results are kept.
///
/// With `x · log2 e = n + r` and `0 <= r < 1` the result is `2^r · 2^n`. The scale's exponent field `n + 127`
/// is made in the low bits of a float, so that eight instructions are enough:
/// 1. `x · log2 e / 252 + 1/2`, clamped to `[0, 1]`: this bounds `n` by −126 and 126, so that `2^n` is a
///    normal number. Operands beyond leave the rest in `r`, and the final product overflows, or is rounded
///    once into the subnormal range, as it should.
/// 2. Times 252, rounded down and added to `1.5 · 2^23 + 1`: the low eight bits are `n + 126 + 1`.
#[inline_on_device]
pub fn exp(x: f32) -> f32 {
    const RANGE: f32 = 252.0;
    const SHIFT: f32 = 12_582_913.0;
    let position = fma_saturating_f32(x, LOG2_E_HIGH / RANGE, 0.5);
    let shifted = fma_round_down_f32(position, RANGE, SHIFT);
    let n = shifted - (SHIFT + 126.0);
    let r = fma_f32(x, LOG2_E_LOW, fma_f32(x, LOG2_E_HIGH, -n));
    let scale = f32::from_bits(shifted.to_bits() << 23);
    exp2_approximate_flush_f32(r) * scale
}

/// `2^x`, within 2.1 ulp; subnormal results are kept.
///
/// `ex2.approx` without `.ftz` would do, but it squares the root of a subnormal result, which doubles the
/// error.
#[inline_on_device]
pub fn exp2(x: f32) -> f32 {
    const SHIFT: f32 = 24.0;
    const UNSHIFT: f32 = 1.0 / 16_777_216.0;
    let subnormal = x < -126.0;
    let (shifted, scale) = if subnormal { (x + SHIFT, UNSHIFT) } else { (x, 1.0) };
    exp2_approximate_flush_f32(shifted) * scale
}

/// Hyperbolic tangent, within 2 ulp.
///
/// Near zero an odd polynomial (minimax on [0, 0.6], relative error 2⁻²⁸·⁴); else `1 - 2 / (e^2x + 1)`, where
/// the subtraction cancels so little that the reciprocal's error stays below the last place.
#[inline_on_device]
pub fn tanh(x: f32) -> f32 {
    let magnitude = x.abs();
    let value = if magnitude >= 0.6 {
        // Beyond 44 the exponential overflows to infinity, whose reciprocal is 0.
        let exponential = exp2_approximate_flush_f32(magnitude * (2.0 * LOG2_E_HIGH));
        let reciprocal = reciprocal_approximate_flush_f32(exponential + 1.0);
        fma_f32(-2.0, reciprocal, 1.0)
    } else {
        let square = magnitude * magnitude;
        let series = polynomial!(
            fma_f32,
            square,
            -0.333_333,
            0.133_319_36,
            -0.053_784_717,
            0.020_798_625,
            -0.005_897_966_7
        );
        fma_f32(series, square * magnitude, magnitude)
    };
    value.copysign(x)
}
