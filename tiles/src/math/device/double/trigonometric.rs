//! Trigonometric functions of f64.

use super::reduction::{Reduced, reduce};
use crate::arch::float::fma_f64;
use crate::math::device::polynomial;

/// Sine of `high + low` in [−π/4, π/4], with the coefficients and the correction for `low` of FDLIBM's
/// `__kernel_sin` (Sun Microsystems, 1993).
#[inline_on_device]
fn sine(r: Reduced) -> f64 {
    let Reduced { high, low, .. } = r;
    let square = high * high;
    let cube = square * high;
    let p = polynomial!(
        fma_f64,
        square,
        8.333_333_333_322_49e-3,
        -1.984_126_982_985_795e-4,
        2.755_731_370_707_006_8e-6,
        -2.505_076_025_340_686_3e-8,
        1.589_690_995_211_55e-10
    );
    // high - high³/6 + ..., with low · (1 - high²/2) as its correction.
    let correction = fma_f64(square, fma_f64(cube, p, -0.5 * low), low);
    high + fma_f64(cube, -1.666_666_666_666_663_2e-1, correction)
}

/// Cosine of `high + low` in [−π/4, π/4], with the coefficients and the order of additions of FDLIBM's
/// `__kernel_cos` (Sun Microsystems, 1993; revised by Steven G. Kargl).
#[inline_on_device]
fn cosine(r: Reduced) -> f64 {
    let Reduced { high, low, .. } = r;
    let square = high * high;
    let p = polynomial!(
        fma_f64,
        square,
        4.166_666_666_666_66e-2,
        -1.388_888_888_887_411e-3,
        2.480_158_728_947_673e-5,
        -2.755_731_435_139_066_3e-7,
        2.087_572_321_298_175e-9,
        -1.135_964_755_778_819_5e-11
    );
    let half = 0.5 * square;
    let rounded = 1.0 - half;
    rounded + (((1.0 - rounded) - half) + fma_f64(square, square * p, -high * low))
}

/// The sine (even quadrant) or cosine (odd quadrant) of the reduced argument, negated in quadrants 2 and 3.
#[inline_on_device]
fn sine_or_cosine(r: Reduced, quadrant: u32) -> f64 {
    let value = if quadrant & 1 != 0 { cosine(r) } else { sine(r) };
    if quadrant & 2 != 0 { -value } else { value }
}

/// Sine of `x` radians, within 1 ulp for every finite `x`.
#[inline_on_device]
pub fn sin(x: f64) -> f64 {
    if x == 0.0 {
        // The sums below would make +0 of −0.
        return x;
    }
    let r = reduce(x);
    sine_or_cosine(r, r.quadrant)
}

/// Cosine of `x` radians, within 1 ulp for every finite `x`.
#[inline_on_device]
pub fn cos(x: f64) -> f64 {
    let r = reduce(x);
    sine_or_cosine(r, r.quadrant.wrapping_add(1))
}

/// Tangent of `x` radians, within 2.5 ulp for every finite `x`: the quotient of sine and cosine.
#[inline_on_device]
pub fn tan(x: f64) -> f64 {
    if x == 0.0 {
        // The sums below would make +0 of −0.
        return x;
    }
    let r = reduce(x);
    let (sine, cosine) = (sine(r), cosine(r));
    if r.quadrant & 1 != 0 { -cosine / sine } else { sine / cosine }
}
