//! Logarithms of f32.

use crate::arch::float::fma_f32;
use crate::math::device::polynomial;

/// `x` as `m · 2^e` with `m` in [√½, √2), for positive normal and subnormal `x`: `(m - 1, e)`.
///
/// The difference from the bits of √½ has the exponent in its upper nine bits, so that neither shifts nor
/// comparisons are needed.
#[inline_on_device]
fn split(x: f32) -> (f32, f32) {
    const SQRT_HALF: u32 = core::f32::consts::FRAC_1_SQRT_2.to_bits();
    const EXPONENT_FIELD: u32 = 0xff80_0000;
    const UNIT: f32 = 1.0 / 8_388_608.0;
    let (x, bias) = if x < f32::MIN_POSITIVE { (x / UNIT, -23.0) } else { (x, 0.0) };
    let field = x.to_bits().wrapping_sub(SQRT_HALF) & EXPONENT_FIELD;
    let significand = f32::from_bits(x.to_bits().wrapping_sub(field));
    (significand - 1.0, fma_f32(field as i32 as f32, UNIT, bias))
}

/// `log(1 + f) - f` for `1 + f` in [√½, √2]: `f² · (−1/2 + f · q(f))` with a minimax polynomial `q`. The
/// error is 2⁻²⁷·³ of `log(1 + f)`.
#[inline_on_device]
fn log_tail(f: f32) -> f32 {
    let q = polynomial!(
        fma_f32,
        f,
        0.333_333_3,
        -0.250_008_3,
        0.200_012_73,
        -0.166_230_05,
        0.142_003_52,
        -0.131_623_01,
        0.127_732_7,
        -0.076_439_29
    );
    fma_f32(q, f, -0.5) * (f * f)
}

/// The results where there is nothing to compute: −∞ for zeros, +∞ for +∞, NaN for negative numbers and NaN.
#[inline_on_device]
fn special(x: f32, regular: f32) -> f32 {
    if x == 0.0 {
        f32::NEG_INFINITY
    } else if x.to_bits() < f32::INFINITY.to_bits() {
        regular
    } else {
        // +∞ stays; a negative number gives ∞ − ∞, a NaN stays one.
        fma_f32(x, f32::INFINITY, f32::INFINITY)
    }
}

/// Natural logarithm, within 1 ulp.
#[inline_on_device]
pub fn log(x: f32) -> f32 {
    let (f, exponent) = split(x);
    let fraction = f + log_tail(f);
    special(x, fma_f32(exponent, core::f32::consts::LN_2, fraction))
}

/// Logarithm to base 2, within 1.1 ulp; exact for powers of two.
#[inline_on_device]
pub fn log2(x: f32) -> f32 {
    const LOG2_E_HIGH: f32 = core::f32::consts::LOG2_E;
    const LOG2_E_LOW: f32 = 1.925_963e-8;
    let (f, exponent) = split(x);
    let tail = fma_f32(f, LOG2_E_LOW, log_tail(f) * LOG2_E_HIGH);
    special(x, fma_f32(f, LOG2_E_HIGH, tail) + exponent)
}
