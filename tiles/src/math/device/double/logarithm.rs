//! Logarithms of f64, by the method of Sun's fdlibm (`e_log.c`; FreeBSD's `e_log2.c`): `libm`'s are the same, but not
//! inlined everywhere, and a call on the device costs more than the function.

use crate::arch::float::fma_f64;
use crate::math::device::polynomial;

/// `x` as `m · 2^e` with `m` in [√½, √2), for positive normal and subnormal `x`: `(m - 1, e)`.
#[inline_on_device]
fn split(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = core::f64::consts::FRAC_1_SQRT_2.to_bits();
    const EXPONENT_FIELD: u64 = 0xfff0_0000_0000_0000;
    const UNIT: f64 = 4_503_599_627_370_496.0;
    let (x, bias) = if x < f64::MIN_POSITIVE { (x * UNIT, -52) } else { (x, 0) };
    let field = x.to_bits().wrapping_sub(SQRT_HALF) & EXPONENT_FIELD;
    let significand = f64::from_bits(x.to_bits().wrapping_sub(field));
    (significand - 1.0, f64::from((field as i64 >> 52) as i32 + bias))
}

/// `(f²/2, s · (f²/2 + R))` with `s = f / (2 + f)`, so that `log(1 + f)` is `f` less the first and plus the second. `R` is
/// the odd series of `log((1 + s) / (1 - s)) - 2s` divided by `s`, off by less than 2^-58.45.
#[inline_on_device]
fn log_parts(f: f64) -> (f64, f64) {
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let series = polynomial!(
        fma_f64,
        z,
        0.666_666_666_666_673_5,
        0.399_999_999_994_094_2,
        0.285_714_287_436_623_9,
        0.222_221_984_321_497_84,
        0.181_835_721_616_180_5,
        0.153_138_376_992_093_73,
        0.147_981_986_051_165_86
    );
    (half_square, s * fma_f64(z, series, half_square))
}

/// The results where there is nothing to compute: −∞ for zeros, +∞ for +∞, NaN for negative numbers and NaN.
#[inline_on_device]
fn special(x: f64, regular: f64) -> f64 {
    if x > 0.0 && x < f64::INFINITY {
        regular
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        x
    } else {
        f64::NAN
    }
}

/// Natural logarithm, within 1 ulp.
#[inline_on_device]
pub fn log(x: f64) -> f64 {
    // The high part has 33 bits, so that its product with an exponent is exact.
    const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let (f, exponent) = split(x);
    let (half_square, correction) = log_parts(f);
    let low = fma_f64(exponent, LN_2_LOW, correction) - half_square;
    special(x, fma_f64(exponent, LN_2_HIGH, low + f))
}

/// Logarithm to base 2, within 1 ulp; exact for powers of two.
#[inline_on_device]
pub fn log2(x: f64) -> f64 {
    // The sum of both parts is 1 / ln 2; the high one has 32 bits, as the high part of the logarithm.
    const HIGH: f64 = 1.442_695_040_721_446_3;
    const LOW: f64 = 1.675_171_316_488_651_2e-10;
    let (f, exponent) = split(x);
    let (half_square, correction) = log_parts(f);
    let high = f64::from_bits((f - half_square).to_bits() & 0xffff_ffff_0000_0000);
    let low = (f - high) - half_square + correction;
    let product = high * HIGH;
    let product_low = (low + high) * LOW + low * HIGH;
    // The exponent may be smaller than the product: the sum's error is carried on.
    let sum = exponent + product;
    special(x, product_low + (exponent - sum + product) + sum)
}
