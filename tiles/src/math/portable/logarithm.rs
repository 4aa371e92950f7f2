//! Logarithms, and the inverse hyperbolic functions made of them.

use super::real::Pair;
use super::series::Series;

/// `log((1 + f) · 2^exponent)` with about one and a half times the digits of the type, for `1 + f` in [√½, √2].
///
/// With `s = f / (2 + f)` it is `2 artanh s`: `2 s + s³ (2/3 + s² q(s²))` in pairs, but for the polynomial `q`.
#[inline_on_device]
fn extended<R: Series>(f: R, exponent: i32) -> Pair<R> {
    let divisor = R::TWO.plus_smaller(f);
    let reciprocal = R::ONE / divisor.high;
    let high = f * reciprocal;
    let rest = (-high).fma(divisor.low, (-high).fma(divisor.high, f));
    let s = Pair { high, low: rest * reciprocal };
    let square = s.times(s);
    let series =
        R::TWO_THIRDS.plus_smaller(Pair { high: square.high * R::log_series(square.high), low: R::ZERO });
    let cubic = s.times(square.times(series));
    let significand = Pair { high: R::TWO * s.high, low: R::TWO * s.low }.plus_smaller(cubic);
    let exponent = R::of(exponent);
    let power = Pair { high: exponent * R::LN_2.high, low: exponent * R::LN_2.low };
    let Pair { high, low } = power.plus_smaller(significand);
    high.plus_smaller(low)
}

/// The natural logarithm of a magnitude as a pair, for use in further arithmetic: −∞ for 0, ∞ for ∞, NaN for NaN.
#[inline_on_device]
pub(super) fn log_pair<R: Series>(magnitude: R) -> Pair<R> {
    let (f, exponent) = magnitude.split();
    let regular = extended(f, exponent);
    if magnitude > R::ZERO && magnitude < R::INFINITY {
        regular
    } else if magnitude == R::ZERO {
        Pair { high: -R::INFINITY, low: R::ZERO }
    } else {
        // ∞ stays, NaN too.
        Pair { high: magnitude, low: R::ZERO }
    }
}

/// Logarithm to base 10; exact for powers of ten that the type has.
#[inline_on_device]
pub fn log10<R: Series>(x: R) -> R {
    let Pair { high, low } = log_pair(x);
    let value = Pair { high, low }.times(R::FRAC_1_LN_10).value();
    if x < R::ZERO {
        R::NAN
    } else if x > R::ZERO && x < R::INFINITY {
        value
    } else {
        high
    }
}

/// `log(1 + x)`.
///
/// With `1 + x` near `m · 2^e`, `(1 + x) / 2^e - 1` is one fused multiply-add of `x`, which loses nothing of it.
#[inline_on_device]
pub fn log1p<R: Series>(x: R) -> R {
    let sum = R::ONE + x;
    let (rounded, exponent) = sum.split();
    let scale = R::power_of_two(exponent.wrapping_neg());
    let f = if x < R::LARGE { x.fma(scale, scale - R::ONE) } else { rounded };
    let value = extended(f, exponent).value();
    if x.abs() < R::NEGLIGIBLE || x == R::INFINITY {
        x
    } else if x > -R::ONE {
        value
    } else if x == -R::ONE {
        -R::INFINITY
    } else {
        R::NAN
    }
}

/// `log(2 x)` for large `x`.
#[inline_on_device]
fn log_of_double<R: Series>(x: R) -> R {
    let (f, exponent) = x.split();
    if x < R::INFINITY { extended(f, exponent.wrapping_add(1)).value() } else { x }
}

/// Inverse hyperbolic sine: `log(1 + |x| + x² / (1 + √(1 + x²)))`.
#[inline_on_device]
pub fn asinh<R: Series>(x: R) -> R {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = log1p(magnitude + square / (R::ONE + (square + R::ONE).sqrt()));
    (if magnitude < R::LARGE { near } else { log_of_double(magnitude) }).with_sign_of(x)
}

/// Inverse hyperbolic cosine: `log(1 + t + √(2 t + t²))` with `t = x - 1`.
#[inline_on_device]
pub fn acosh<R: Series>(x: R) -> R {
    let t = x - R::ONE;
    let near = log1p(t + t.fma(t, R::TWO * t).sqrt());
    if x < R::ONE {
        R::NAN
    } else if x < R::LARGE {
        near
    } else {
        log_of_double(x)
    }
}

/// Inverse hyperbolic tangent: half of `log(1 + 2 |x| / (1 - |x|))`.
#[inline_on_device]
pub fn atanh<R: Series>(x: R) -> R {
    let magnitude = x.abs();
    (R::HALF * log1p(R::TWO * magnitude / (R::ONE - magnitude))).with_sign_of(x)
}
