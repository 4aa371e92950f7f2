//! Exponentials, hyperbolic functions, and the activation functions made of them.

use super::logarithm::log1p;
use super::real::Pair;
use super::series::Series;

/// A power of e as `2^n · (1 + r + tail)`, with |r| up to ln 2 / 2 and `tail` below r².
#[derive(Clone, Copy)]
pub(super) struct Exponential<R> {
    r: R,
    tail: R,
    n: i32,
}

impl<R: Series> Exponential<R> {
    /// `2^n · e^r`, for a small `r`.
    #[inline_on_device]
    fn of_reduced(r: Pair<R>, n: i32) -> Self {
        Exponential { r: r.high, tail: (r.high * r.high).fma(R::exp_series(r.high), r.low), n }
    }

    /// `e^x`. Operands that are far beyond the range count as ones just beyond it.
    ///
    /// The reduction is W. J. Cody and W. Waite's ("Software Manual for the Elementary Functions", 1980), with what
    /// rounding takes from its second step.
    #[inline_on_device]
    pub(super) fn of(x: Pair<R>) -> Self {
        let limit = R::EXPONENT_LIMIT;
        let x = if x.high > limit {
            Pair { high: limit, low: R::ZERO }
        } else if x.high < -limit {
            Pair { high: -limit, low: R::ZERO }
        } else {
            x
        };
        let (quotient, n) = (x.high * R::LOG2_E).round();
        let first = quotient.fma(-R::LN_2.high, x.high);
        // The reduction has cancelled most of `x`, so that its low part is no longer below the last place.
        let Pair { high: second, low: rest } = first.plus_smaller(x.low);
        let high = quotient.fma(-R::LN_2.low, second);
        let low = quotient.fma(-R::LN_2.low, second - high) + rest;
        Self::of_reduced(Pair { high, low }, n)
    }

    /// `factor · e^x · 2^exponent`; subnormal results are rounded once, apart from the rounding to all digits.
    #[inline_on_device]
    pub(super) fn times(self, factor: R, exponent: i32) -> R {
        let Pair { high, low } = R::ONE.plus_smaller(self.r);
        (factor * (high + (low + self.tail))).scale(self.n.wrapping_add(exponent))
    }
}

/// `e^x · 2^exponent`.
#[inline_on_device]
fn exponential<R: Series>(x: R, exponent: i32) -> R {
    Exponential::of(Pair { high: x, low: R::ZERO }).times(R::ONE, exponent)
}

/// `10^x`; powers of ten that the type has are exact.
#[inline_on_device]
pub fn exp10<R: Series>(x: R) -> R {
    let limit = R::EXPONENT_LIMIT * R::HALF;
    let x = if x > limit {
        limit
    } else if x < -limit {
        -limit
    } else {
        x
    };
    let (quotient, n) = (x * R::LOG2_10).round();
    let first = quotient.fma(-R::LOG10_2.high, x);
    let high = quotient.fma(-R::LOG10_2.low, first);
    let low = quotient.fma(-R::LOG10_2.low, first - high);
    let Pair { high, low } = R::LN_10.times(Pair { high, low });
    Exponential::of_reduced(Pair { high, low }, n).times(R::ONE, 0)
}

/// `e^x - 1`.
#[inline_on_device]
pub fn expm1<R: Series>(x: R) -> R {
    /// From this power of two on, subtracting 1 does not change any type.
    const ONE_IS_NOTHING: i32 = 60;
    // Below, the result is -1 rounded.
    let least = -R::of(64);
    let clamped = if x < least { least } else { x };
    let exponential = Exponential::of(Pair { high: clamped, low: R::ZERO });
    let Exponential { r, tail, n } = exponential;
    let power = R::power_of_two(n);
    let Pair { high, low } = (power - R::ONE).plus_smaller(power * r);
    if x == R::ZERO {
        x
    } else if n == 0 {
        r + tail
    } else if n > ONE_IS_NOTHING {
        exponential.times(R::ONE, 0)
    } else {
        high + power.fma(tail, low)
    }
}

/// Hyperbolic sine: a series up to 1, then half the difference of `e^|x|` and its reciprocal.
#[inline_on_device]
pub fn sinh<R: Series>(x: R) -> R {
    let magnitude = x.abs();
    let square = magnitude * magnitude;
    let near = (square * magnitude).fma(R::sinh_series(square), magnitude);
    let half = exponential(magnitude, -1);
    let far = half - R::HALF * R::HALF / half;
    (if magnitude < R::ONE { near } else { far }).with_sign_of(x)
}

/// Hyperbolic cosine: half the sum of `e^|x|` and its reciprocal.
#[inline_on_device]
pub fn cosh<R: Series>(x: R) -> R {
    let half = exponential(x.abs(), -1);
    half + R::HALF * R::HALF / half
}

/// `1 / (1 + e^-x)`, as `e^x / (1 + e^x)` for negative numbers, so that small results keep their digits.
#[inline_on_device]
pub fn sigmoid<R: Series>(x: R) -> R {
    let small = exponential(-x.abs(), 0);
    (if x < R::ZERO { small } else { R::ONE }) / (R::ONE + small)
}

/// `x / (1 + e^-w)` where `w` has the sign of `x` and the given magnitude.
#[inline_on_device]
fn weighted<R: Series>(x: R, magnitude: Pair<R>) -> R {
    let limit = R::EXPONENT_LIMIT;
    let exponential = Exponential::of(Pair { high: -magnitude.high, low: -magnitude.low });
    // For negative numbers the numerator is x · e^-|w|, lifted so that it is not rounded as a subnormal number.
    let denominator = R::ONE + exponential.times(R::ONE, 0);
    let lifted = x * exponential.times(R::ONE, R::GUARD) / denominator * R::power_of_two(-R::GUARD);
    if x >= R::ZERO {
        x / denominator
    } else if magnitude.high > limit {
        -R::ZERO
    } else {
        lifted
    }
}

/// `x / (1 + e^-x)`.
#[inline_on_device]
pub fn silu<R: Series>(x: R) -> R {
    weighted(x, Pair { high: x.abs(), low: R::ZERO })
}

/// `x / (1 + e^-w)` with `w = 2 √(2/π) (x + 0.044715 x³)`, which is `x (1 + tanh(w/2)) / 2`. `w` has twice the digits: a
/// relative error in it would show `w` times as large in small results.
#[inline_on_device]
pub fn gelu_tanh<R: Series>(x: R) -> R {
    let far = R::of(64);
    let magnitude = if x.abs() > far { far } else { x.abs() };
    let square = magnitude.times(magnitude);
    let cubic = R::GELU_CUBIC.times(square);
    // Either may be the larger one; the sum is exact in both orders.
    let sum = if cubic.high > R::GELU_LINEAR.high {
        cubic.plus_smaller(R::GELU_LINEAR)
    } else {
        R::GELU_LINEAR.plus_smaller(cubic)
    };
    weighted(x, sum.scaled(magnitude))
}

/// `log(1 + e^x)`, as `max(x, 0) + log(1 + e^-|x|)`.
#[inline_on_device]
pub fn softplus<R: Series>(x: R) -> R {
    let rest = log1p(exponential(-x.abs(), 0));
    if x > R::ZERO { x + rest } else { rest }
}
