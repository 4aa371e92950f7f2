//! The error function and what follows from it.

use super::exponential::Exponential;
use super::real::{Pair, Real};
use super::series::Series;

/// `weight · erfc(x) · 2^exponent` for x from 0 to `ERFC_LIMIT`, given x² with twice the digits.
///
/// `(1 + 2 x) · e^(x²) · erfc(x)` is a polynomial in `(x - K) / (x + K)` (M. M. Shepherd and J. G. Laframboise, "Chebyshev
/// approximation of (1 + 2x) exp(x²) erfc x in 0 <= x < ∞", 1981).
#[inline_on_device]
fn complement<R: Series>(x: R, square: Pair<R>, weight: R, exponent: i32) -> R {
    let t = (x - R::ERFC_CENTER) / (x + R::ERFC_CENTER);
    let scaled = R::erfc_series(t) / R::TWO.fma(x, R::ONE);
    let exponential = Exponential::of(Pair { high: -square.high, low: -square.low });
    exponential.times(weight * scaled, exponent)
}

/// `|x|`, or the given limit if that is less.
#[inline_on_device]
fn clamped_magnitude<R: Real>(x: R, limit: R) -> R {
    if x.abs() > limit { limit } else { x.abs() }
}

/// The error function for magnitudes up to 1, with its sign.
#[inline_on_device]
fn near_zero<R: Series>(x: R) -> R {
    x.fma(R::erf_series(x * x), x)
}

/// Error function: a series up to 1, then 1 less the complement.
#[inline_on_device]
pub fn erf<R: Series>(x: R) -> R {
    let magnitude = clamped_magnitude(x, R::ERFC_LIMIT);
    let far = R::ONE - complement(magnitude, magnitude.times(magnitude), R::ONE, 0);
    (if magnitude < R::ONE { near_zero(magnitude) } else { far }).with_sign_of(x)
}

/// `1 - erf(x)`, without the cancellation for large numbers.
#[inline_on_device]
pub fn erfc<R: Series>(x: R) -> R {
    let magnitude = clamped_magnitude(x, R::ERFC_LIMIT);
    let value = complement(magnitude, magnitude.times(magnitude), R::ONE, 0);
    if magnitude < R::HALF {
        R::ONE - near_zero(x)
    } else if x < R::ZERO {
        R::TWO - value
    } else {
        value
    }
}

/// `x · Φ(x)` with the normal distribution `Φ(x) = erfc(-x / √2) / 2`.
///
/// The square of `x / √2` is taken as x² / 2, since a relative error in it would show that many times in small results.
#[inline_on_device]
pub fn gelu<R: Series>(x: R) -> R {
    // Half the complement of the limit underflows, also multiplied by the limit.
    let magnitude = clamped_magnitude(x, R::ERFC_LIMIT * R::TWO * R::FRAC_1_SQRT_2);
    let scaled = magnitude * R::FRAC_1_SQRT_2;
    let square = magnitude.times(magnitude);
    let half_square = Pair { high: R::HALF * square.high, low: R::HALF * square.low };
    let tail = complement(scaled, half_square, if x < R::ZERO { -magnitude } else { R::ONE }, -1);
    if scaled < R::HALF {
        x * near_zero(x * R::FRAC_1_SQRT_2).fma(R::HALF, R::HALF)
    } else if x < R::ZERO {
        tail
    } else {
        x * (R::ONE - tail)
    }
}
