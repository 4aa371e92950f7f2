//! Functions with a stated error: the documentation's table of `cuda_tiles::math` around values of the host's own functions.

use crate::element::Element;
use crate::number;
use crate::program::Function;
use crate::scalar::Scalar;

/// Errors of the references themselves, in units of `f64`.
const REFERENCE: f64 = 4.0;

/// How a function goes between two operands.
enum Course {
    /// It only rises, or only falls.
    Monotone,
    /// It nowhere changes faster than its operand.
    Gentle,
    /// Neither.
    Any,
}

struct Entry {
    value: fn(f64) -> f64,
    /// Largest errors of `f32` and `f64`, in units in the last place.
    errors: [f64; 2],
    /// Whether results of all devices have the same bits, of `f32` and of `f64`.
    same: [bool; 2],
    course: Course,
}

fn entry(function: Function) -> Entry {
    use Course::{Any, Gentle, Monotone};
    use Function::*;
    let (value, errors, same, course): (fn(f64) -> f64, _, _, _) = match function {
        Exp => (f64::exp, [2.0, 1.0], [false; 2], Monotone),
        Exp2 => (f64::exp2, [2.1, 1.0], [false; 2], Monotone),
        Exp10 => (|x| 10f64.powf(x), [1.0, 1.0], [true; 2], Monotone),
        Expm1 => (f64::exp_m1, [1.2, 1.2], [true; 2], Monotone),
        Log => (f64::ln, [1.0, 1.0], [false; 2], Monotone),
        Log2 => (f64::log2, [1.1, 1.1], [false; 2], Monotone),
        Log10 => (f64::log10, [0.6, 0.6], [true; 2], Monotone),
        Log1p => (f64::ln_1p, [1.4, 1.4], [true; 2], Monotone),
        Sin => (f64::sin, [2.0, 1.0], [false; 2], Gentle),
        Cos => (f64::cos, [2.0, 1.0], [false; 2], Gentle),
        Tan => (f64::tan, [3.1, 2.5], [false; 2], Any),
        Asin => (f64::asin, [2.2, 2.2], [true; 2], Monotone),
        Acos => (f64::acos, [1.2, 1.2], [true; 2], Monotone),
        Atan => (f64::atan, [1.5, 1.5], [true; 2], Monotone),
        Sinh => (f64::sinh, [1.8, 1.8], [true; 2], Monotone),
        Cosh => (f64::cosh, [1.2, 1.2], [true; 2], Any),
        Tanh => (f64::tanh, [2.0, 2.0], [false, true], Monotone),
        Asinh => (asinh, [2.0, 2.0], [true; 2], Monotone),
        Acosh => (acosh, [2.1, 2.1], [true; 2], Monotone),
        Atanh => (atanh, [2.2, 2.2], [true; 2], Monotone),
        Rsqrt => (|x| 1.0 / x.sqrt(), [2.0, 1.0], [false, true], Monotone),
        Cbrt => (f64::cbrt, [0.6, 0.6], [true; 2], Monotone),
        Erf => (erf, [1.1, 1.1], [true; 2], Monotone),
        Erfc => (erfc, [4.0, 4.0], [true; 2], Monotone),
        Sigmoid => (sigmoid, [2.5, 2.5], [true; 2], Monotone),
        Silu => (|x| faded(x, sigmoid(x)), [3.2, 3.2], [true; 2], Any),
        Softplus => (softplus, [1.8, 1.8], [true; 2], Monotone),
        Gelu => (|x| faded(x, 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)), [5.0, 5.0], [true; 2], Any),
        GeluTanh => (gelu_tanh, [3.5, 3.5], [true; 2], Any),
    };
    Entry { value, errors, same, course }
}

/// Whether the reference is good enough for `f64`: those that are written here are for shorter floats.
pub fn is_for(function: Function, element: Element) -> bool {
    use Function::*;
    let own = matches!(
        function,
        Asinh | Acosh | Atanh | Erf | Erfc | Sigmoid | Silu | Softplus | Gelu | GeluTanh | Exp10
    );
    element.is_float() && !(own && element == Element::F64)
}

/// What the function of an element may be.
pub fn apply(function: Function, element: Element, operand: Scalar) -> Scalar {
    let entry = entry(function);
    let wide = usize::from(element == Element::F64);
    let same = operand.same() && entry.same[wide];
    if operand.is_nan(element) {
        return operand;
    }
    let Some((low, high)) = operand.bounds(element) else { return Scalar::Unknown };
    let around = |value: f64| bounds_of_error(element, value, entry.errors[wide]);
    if low == high {
        let value = (entry.value)(low);
        return if value.is_nan() {
            Scalar::Known(number::nan(element))
        } else {
            let (low, high) = around(value);
            finish(element, low, high, same)
        };
    }
    match entry.course {
        Course::Any => Scalar::Unknown,
        Course::Monotone => {
            let (first, second) = ((entry.value)(low), (entry.value)(high));
            if first.is_nan() || second.is_nan() {
                return Scalar::Unknown;
            }
            let (first, second) = (around(first), around(second));
            finish(element, first.0.min(second.0), first.1.max(second.1), same)
        }
        Course::Gentle => {
            let value = (entry.value)(low);
            if value.is_nan() || !(high - low).is_finite() {
                return Scalar::Unknown;
            }
            let (below, above) = around(value);
            finish(element, (below - (high - low)).max(-1.0), (above + (high - low)).min(1.0), same)
        }
    }
}

/// The bounds of a result of `f32` or `f64`; shorter floats compute in `f32` and round once more.
fn bounds_of_error(element: Element, value: f64, units: f64) -> (f64, f64) {
    if value.is_infinite() {
        return (value, value);
    }
    let reference = REFERENCE * number::unit_in_the_last_place(Element::F64, value);
    let computed = if element == Element::F64 { Element::F64 } else { Element::F32 };
    let error = reference + units * number::unit_in_the_last_place(computed, value);
    (value - error, value + error)
}

fn finish(element: Element, low: f64, high: f64, same: bool) -> Scalar {
    match element {
        Element::F32 | Element::F64 => Scalar::around(element, low, high, same),
        // In `f32` first, then to nearest.
        _ => Scalar::between(element, number::nearest(element, low), number::nearest(element, high), same),
    }
}

/// Functions of two operands with a stated error.
pub fn apply_two(
    element: Element,
    operands: [Scalar; 2],
    units: f64,
    same: bool,
    value: fn(f64, f64) -> f64,
) -> Scalar {
    let (Scalar::Known(a), Scalar::Known(b)) = (operands[0], operands[1]) else { return Scalar::Unknown };
    known_value(element, value(number::decode(element, a), number::decode(element, b)), units, same)
}

/// What a result may be whose exact value this is, up to an error of so many units in the last place.
pub fn known_value(element: Element, value: f64, units: f64, same: bool) -> Scalar {
    if value.is_nan() {
        return Scalar::Known(number::nan(element));
    }
    let (low, high) = bounds_of_error(element, value, units);
    finish(element, low, high, same)
}

fn asinh(x: f64) -> f64 {
    let magnitude = x.abs();
    let squared = magnitude * magnitude;
    let value = if magnitude > 1e9 {
        magnitude.ln() + std::f64::consts::LN_2
    } else {
        (magnitude + squared / (1.0 + (1.0 + squared).sqrt())).ln_1p()
    };
    value.copysign(x)
}

fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    if x > 1e9 {
        return x.ln() + std::f64::consts::LN_2;
    }
    let above = x - 1.0;
    (above + (2.0 * above + above * above).sqrt()).ln_1p()
}

fn atanh(x: f64) -> f64 {
    0.5 * (2.0 * x / (1.0 - x)).ln_1p()
}

fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
}

/// `x` times a share of it, which is zero for negative infinity.
fn faded(x: f64, share: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { x * share }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    faded(x, sigmoid(2.0 * inner))
}

/// By its series near zero, else by the complement.
fn erf(x: f64) -> f64 {
    if x.abs() > 2.0 {
        return (1.0 - erfc(x.abs())).copysign(x);
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > sum.abs() * 1e-18 && n < 200.0 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// By its continued fraction far from zero (Abramowitz and Stegun, 7.1.14), else by the complement.
fn erfc(x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.0 {
        return 1.0 - erf(x);
    }
    let mut fraction = x;
    for k in (1..120).rev() {
        fraction = x + 0.5 * f64::from(k) / fraction;
    }
    // The square in two parts: an error of it would be one of the result.
    let high = f64::from_bits(x.to_bits() & !0xffff_ffff);
    let low = x - high;
    (-high * high).exp() * (-low * (x + high)).exp() / (fraction * std::f64::consts::PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_good_to_shorter_floats() {
        // From tables (NIST Digital Library of Mathematical Functions, chapters 4 and 7).
        let cases: [(f64, f64); 10] = [
            (erf(0.5), 0.520_499_877_813_046_5),
            (erf(1.0), 0.842_700_792_949_714_9),
            (erf(3.0), 0.999_977_909_503_001_4),
            (erfc(1.0), 0.157_299_207_050_285_13),
            (erfc(4.0), 1.541_725_790_028_002e-8),
            (erf(f64::NEG_INFINITY), -1.0),
            (erfc(f64::NEG_INFINITY), 2.0),
            (asinh(-1.0), -0.881_373_587_019_543),
            (acosh(2.0), 1.316_957_896_924_816_6),
            (atanh(0.5), 0.549_306_144_334_054_8),
        ];
        for (value, expected) in cases {
            assert!((value - expected).abs() < 1e-11 * expected.abs(), "{value} {expected}");
        }
    }

    #[test]
    fn bounds_hold_the_value_and_no_more_than_is_stated() {
        let one = Scalar::Known(u64::from(1f32.to_bits()));
        let Scalar::Range { low, high, .. } = apply(Function::Exp, Element::F32, one) else {
            panic!("a range")
        };
        let e = std::f64::consts::E;
        assert!(low < e && e < high && high - low <= 4.0 * number::unit_in_the_last_place(Element::F32, e));
    }
}
