//! References of elementary functions: a value times a power of two, so that results below the normal range keep their
//! digits.

use super::{Wide, wide_exp_minus_one, wide_sine_and_cosine};

/// A reference value times a power of two.
pub(crate) type Scaled = (Wide, i32);

pub(crate) const ONE: Wide = Wide(1.0, 0.0);
const HALF: Wide = Wide(0.5, 0.0);
const LN_10: Wide = Wide(std::f64::consts::LN_10, -2.170_756_223_382_249_4e-16);
const PI: Wide = Wide(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
const FRAC_1_SQRT_2: Wide = Wide(std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);

impl std::ops::Sub for Wide {
    type Output = Wide;
    fn sub(self, other: Wide) -> Wide {
        self + -other
    }
}

pub(crate) fn sqrt(x: Wide) -> Wide {
    let root = Wide::from(x.0.sqrt());
    if x.0 == 0.0 { x } else { root + (x - root * root) / root.scale(2.0) }
}

pub(crate) fn exp(x: Wide) -> Scaled {
    let (minus_one, power) = wide_exp_minus_one(x);
    (minus_one + ONE, power)
}

/// A scaled value as it is, if it is in range.
pub(crate) fn plain((value, power): Scaled) -> Wide {
    value.scale(2f64.powi(power / 2)).scale(2f64.powi(power - power / 2))
}

/// `log(1 + x)` from the series of the inverse hyperbolic tangent.
fn log1p_near_zero(x: Wide) -> Wide {
    let s = x / (x + 2.0.into());
    let square = s * s;
    let mut sum = Wide(0.0, 0.0);
    for k in (0..14).rev() {
        sum = sum * square + ONE / f64::from(2 * k + 1).into();
    }
    sum * s.scale(2.0)
}

/// With y near `log x`, `log x = y + log(x / e^y)`.
pub(crate) fn log(x: Wide) -> Wide {
    let near_one = x - ONE;
    if near_one.0.abs() < 0.1 {
        return log1p_near_zero(near_one);
    }
    let y = x.0.ln();
    let (value, power) = exp((-y).into());
    let (half, rest) = (power / 2, power - power / 2);
    let c = x.scale(2f64.powi(half)).scale(2f64.powi(rest)) * value - ONE;
    Wide::from(y) + (c - (c * c).scale(0.5))
}

pub(crate) fn log1p(x: Wide) -> Wide {
    if x.0.abs() < 0.1 { log1p_near_zero(x) } else { log(x + ONE) }
}

pub(crate) fn log10(x: f64) -> Wide {
    log(x.into()) / LN_10
}

pub(crate) fn exp10(x: f64) -> Scaled {
    exp(LN_10 * x.into())
}

/// `e^x - 1`.
pub(crate) fn expm1(x: f64) -> Scaled {
    let (minus_one, power) = wide_exp_minus_one(x.into());
    if power.abs() > 200 {
        return if power > 0 { (minus_one + ONE, power) } else { (-ONE, 0) };
    }
    let scale = 2f64.powi(power);
    (minus_one.scale(scale) + (scale - 1.0).into(), 0)
}

/// Half the sum of `e^x` and `sign · e^-x`.
fn hyperbolic(x: f64, sign: f64) -> Scaled {
    let (value, power) = exp(x.abs().into());
    let other = if power < 60 { plain((ONE / value, -2 * power)) } else { Wide(0.0, 0.0) };
    let sum = (value + other.scale(sign)).scale(0.5);
    (if sign < 0.0 && x < 0.0 { -sum } else { sum }, power)
}

pub(crate) fn sinh(x: f64) -> Scaled {
    if x.abs() > 0.5 {
        return hyperbolic(x, -1.0);
    }
    let square = Wide::of_product(x, x);
    let mut sum = ONE;
    for k in (1..12).rev() {
        sum = ONE + sum * square / f64::from(2 * k * (2 * k + 1)).into();
    }
    (sum * x.into(), 0)
}

pub(crate) fn cosh(x: f64) -> Scaled {
    hyperbolic(x, 1.0)
}

pub(crate) fn asinh(x: f64) -> Wide {
    let magnitude = Wide::from(x.abs());
    let square = Wide::of_product(x, x);
    let result = if x.abs() > 1e17 {
        log(magnitude) + Wide::LN_2
    } else {
        log1p(magnitude + square / (ONE + sqrt(ONE + square)))
    };
    if x < 0.0 { -result } else { result }
}

pub(crate) fn acosh(x: f64) -> Wide {
    if x > 1e17 {
        return log(x.into()) + Wide::LN_2;
    }
    let t = Wide::from(x) - ONE;
    log1p(t + sqrt(t * (t + 2.0.into())))
}

pub(crate) fn atanh(x: f64) -> Wide {
    let x = Wide::from(x);
    (log1p(x.scale(2.0) / (ONE - x))).scale(0.5)
}

/// With y near `arctan x`, the tangent of the difference follows from sine and cosine of y.
pub(crate) fn atan(x: Wide) -> Wide {
    let y = x.0.atan();
    let (sine, cosine) = wide_sine_and_cosine(y);
    Wide::from(y) + (x * cosine - sine) / (cosine + x * sine)
}

pub(crate) fn asin(x: f64) -> Wide {
    let wide = Wide::from(x);
    if x.abs() == 1.0 {
        return PI.scale(0.5 * x);
    }
    atan(wide / sqrt((ONE - wide) * (ONE + wide)))
}

pub(crate) fn acos(x: f64) -> Wide {
    let wide = Wide::from(x);
    if x == -1.0 {
        return PI;
    }
    atan(sqrt((ONE - wide) / (ONE + wide))).scale(2.0)
}

/// For points whose quotient of coordinates is in range.
pub(crate) fn atan2(y: f64, x: f64) -> Wide {
    let quotient = Wide::from(y.abs()) / x.abs().into();
    let angle = if y.abs() > x.abs() { PI.scale(0.5) - atan(ONE / quotient) } else { atan(quotient) };
    let angle = if x < 0.0 { PI - angle } else { angle };
    if y < 0.0 { -angle } else { angle }
}

/// `e^(-x²)`.
fn gaussian(x: Wide) -> Scaled {
    exp(-(x * x))
}

/// The series whose terms are all positive: `erf(x) = 2 x / √π · e^(-x²) · Σ (2 x²)^n / (1 · 3 · 5 ⋯ (2 n + 1))`.
pub(crate) fn erf(x: Wide) -> Wide {
    let square = (x * x).scale(2.0);
    let (mut term, mut sum) = (ONE, ONE);
    for n in 1..400 {
        term = term * square / f64::from(2 * n + 1).into();
        sum = sum + term;
        if term.0 < 1e-34 * sum.0 {
            break;
        }
    }
    plain(gaussian(x)) * sum * x.scale(2.0) / sqrt(PI)
}

/// From 2 on the continued fraction of Laplace.
pub(crate) fn erfc(x: Wide) -> Scaled {
    if x.0 < 2.0 {
        return (ONE - erf(x), 0);
    }
    let mut fraction = x;
    for k in (1..220).rev() {
        fraction = x + HALF * f64::from(k).into() / fraction;
    }
    let (value, power) = gaussian(x);
    (value / fraction / sqrt(PI), power)
}

pub(crate) fn gelu(x: f64) -> Scaled {
    let (value, power) = erfc(-(FRAC_1_SQRT_2 * x.into()));
    (value * (0.5 * x).into(), power)
}

/// `x / (1 + e^-w)`.
fn weighted(x: f64, w: Wide) -> Scaled {
    if w.0 > 0.0 {
        return (Wide::from(x) / (ONE + plain(exp(-w))), 0);
    }
    let (value, power) = exp(w);
    (value * x.into() / (ONE + plain((value, power))), power)
}

pub(crate) fn sigmoid(x: f64) -> Scaled {
    let (value, power) = weighted(1.0, x.into());
    (value, power)
}

pub(crate) fn silu(x: f64) -> Scaled {
    weighted(x, x.into())
}

pub(crate) fn gelu_tanh(x: f64) -> Scaled {
    let cubic = Wide::from(44_715.0) / 1_000_000.0.into();
    let inner = (cubic * Wide::of_product(x, x) + ONE) * x.into();
    weighted(x, sqrt(Wide::from(8.0) / PI) * inner)
}

pub(crate) fn softplus(x: f64) -> Wide {
    if x > 40.0 {
        return Wide::from(x) + plain(exp((-x).into()));
    }
    log1p(plain(exp(x.into())))
}

pub(crate) fn pow(x: f64, y: f64) -> Scaled {
    exp(log(x.into()) * y.into())
}

pub(crate) fn hypot(x: f64, y: f64) -> Wide {
    sqrt(Wide::of_product(x, x) + Wide::of_product(y, y))
}

/// One step of Newton's iteration from the standard library's cube root.
pub(crate) fn cbrt(x: f64) -> Wide {
    let root = Wide::from(x.cbrt());
    root - (root * root * root - x.into()) / (root * root).scale(3.0)
}
