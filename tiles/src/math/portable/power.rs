//! Powers and roots.

use super::exponential::Exponential;
use super::logarithm::log_pair;
use super::real::{Pair, Real};
use super::series::Series;

/// What an exponent does to a sign.
#[derive(Clone, Copy, PartialEq)]
enum Parity {
    Even,
    Odd,
    Fraction,
}

/// `x^y`: `e^(y log |x|)` in pairs, with the sign and the exceptions of C's Annex F.9.4.4.
#[inline_on_device]
fn power<R: Series>(x: R, y: Pair<R>, parity: Parity) -> R {
    let magnitude = x.abs();
    let logarithm = log_pair(magnitude);
    let Pair { high, low } = logarithm.scaled(y.high);
    // Beyond the limit products of infinities would make a NaN of the low part.
    let low = if high.abs() > R::EXPONENT_LIMIT { R::ZERO } else { logarithm.high.fma(y.low, low) };
    let value = Exponential::of(Pair { high, low }).times(R::ONE, 0);
    let unit = x == R::ONE || (magnitude == R::ONE && y.high.abs() == R::INFINITY);
    if y.high == R::ZERO || unit {
        R::ONE
    } else if parity == Parity::Fraction && x < R::ZERO && magnitude < R::INFINITY {
        R::NAN
    } else if parity == Parity::Odd && x.is_negative() {
        -value
    } else {
        value
    }
}

/// `x^y`.
#[inline_on_device]
pub fn pow<R: Series>(x: R, y: R) -> R {
    let half = y * R::HALF;
    let parity = if y.floor() != y {
        Parity::Fraction
    } else if half.floor() != half {
        Parity::Odd
    } else {
        Parity::Even
    };
    power(x, Pair { high: y, low: R::ZERO }, parity)
}

/// `x^n`. Small exponents are products, so that a constant one costs no more than writing the product.
#[inline_on_device]
pub fn powi<R: Series>(x: R, n: i32) -> R {
    let square = x * x;
    match n {
        0 => R::ONE,
        1 => x,
        2 => square,
        3 => square * x,
        4 => square * square,
        -1 => R::ONE / x,
        _ => {
            // Both halves are exact, and so is their sum as a pair.
            let (high, low) = (n & !0xffff, n & 0xffff);
            let parity = if n & 1 != 0 { Parity::Odd } else { Parity::Even };
            power(x, R::of(high).plus_smaller(R::of(low)), parity)
        }
    }
}

/// Cube root: Halley's iteration for the inverse cube root, which needs no division, and a last step from the exact
/// remainder.
#[inline_on_device]
pub fn cbrt<R: Real>(x: R) -> R {
    let magnitude = x.abs();
    // Remainders of small numbers would underflow. A third of a guard is an integer.
    let tiny = magnitude < R::power_of_two(2 * R::GUARD - R::EXPONENT_BIAS);
    let operand = if tiny { magnitude * R::power_of_two(2 * R::GUARD) } else { magnitude };
    let third = R::ONE / R::of(3);
    let two_ninths = R::TWO / R::of(9);
    let mut inverse = operand.estimate_inverse_cube_root();
    for _ in 0..R::CUBE_ROOT_STEPS {
        let error = (-(operand * inverse)).fma(inverse * inverse, R::ONE);
        inverse = (inverse * error).fma(two_ninths.fma(error, third), inverse);
    }
    let square = inverse * inverse;
    let root = operand * square;
    let root_square = root.times(root);
    let remainder = (-root_square.low).fma(root, (-root_square.high).fma(root, operand));
    let root = (remainder * square).fma(third, root);
    let scaled = if tiny { root * R::power_of_two(-2 * R::GUARD / 3) } else { root };
    let regular = magnitude > R::ZERO && magnitude < R::INFINITY;
    if regular { scaled.with_sign_of(x) } else { x }
}

/// `√(x² + y²)` without overflow or underflow on the way; infinite if an operand is, even beside a NaN.
#[inline_on_device]
pub fn hypot<R: Real>(x: R, y: R) -> R {
    let (a, b) = (x.abs(), y.abs());
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    let middle = R::EXPONENT_BIAS / 2;
    let exponent = if large > R::power_of_two(middle - 4) {
        -(middle + R::GUARD)
    } else if large < R::power_of_two(R::GUARD - middle) {
        middle + R::GUARD
    } else {
        0
    };
    let scale = R::power_of_two(exponent);
    let (large, small) = (large * scale, small * scale);
    let root = large.fma(large, small * small).sqrt() * R::power_of_two(-exponent);
    if a == R::INFINITY || b == R::INFINITY { R::INFINITY } else { root }
}
