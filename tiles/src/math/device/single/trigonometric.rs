//! Trigonometric functions of f32.

use super::reduction::reduce;
use crate::arch::float::{fma_f32, reciprocal_approximate_flush_f32};
use crate::math::device::polynomial;

/// The sine (even quadrant) or cosine (odd quadrant) of `r` in [−π/4, π/4], negated in quadrants 2 and 3.
///
/// Minimax polynomials of relative error 2⁻²⁷·⁹ and 2⁻³³. Both have the form `base + base · r² · p(r²)`, with
/// base `r` or 1, so that choosing coefficients costs less than computing both.
#[inline_on_device]
fn sine_or_cosine(r: f32, quadrant: u32) -> f32 {
    let cosine = quadrant & 1 != 0;
    let square = r * r;
    let p = if cosine { 2.443_256_4e-5 } else { 0.0 };
    let p = fma_f32(p, square, if cosine { -0.001_388_731_1 } else { -0.000_195_182_86 });
    let p = fma_f32(p, square, if cosine { 0.041_666_646 } else { 0.008_332_189 });
    let p = fma_f32(p, square, if cosine { -0.5 } else { -0.166_666_55 });
    let base = if cosine { 1.0 } else { r };
    // The addition of zero keeps the sign of a zero: the product of −0 and the negative `p` would be +0.
    let value = fma_f32(p, fma_f32(square, base, 0.0), base);
    if quadrant & 2 != 0 { -value } else { value }
}

/// Sine of `x` radians, within 2 ulp for every finite `x`.
#[inline_on_device]
pub fn sin(x: f32) -> f32 {
    let (r, quadrant) = reduce(x);
    sine_or_cosine(r, quadrant)
}

/// Cosine of `x` radians, within 2 ulp for every finite `x`.
#[inline_on_device]
pub fn cos(x: f32) -> f32 {
    let (r, quadrant) = reduce(x);
    sine_or_cosine(r, quadrant.wrapping_add(1))
}

/// Tangent of `x` radians, within 3.1 ulp for every finite `x`.
///
/// A minimax polynomial of relative error 2⁻²⁹·⁵ in even quadrants, its negative reciprocal in odd ones.
#[inline_on_device]
pub fn tan(x: f32) -> f32 {
    let (r, quadrant) = reduce(x);
    let square = r * r;
    let p = polynomial!(
        fma_f32,
        square,
        0.333_333_5,
        0.133_326_75,
        0.054_058_906,
        0.021_286_298,
        0.010_827_077,
        9.887_409_4e-5,
        0.004_372_312_7
    );
    let tangent = fma_f32(p, square * r, r);
    if quadrant & 1 != 0 {
        // One step of Newton's method rounds the reciprocal. No f32 is so close to an odd multiple of π/2
        // that this is subnormal.
        let reciprocal = reciprocal_approximate_flush_f32(-tangent);
        fma_f32(reciprocal, fma_f32(reciprocal, tangent, 1.0), reciprocal)
    } else {
        tangent
    }
}
