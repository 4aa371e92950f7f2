//! The meaning of the operations, written down a second time: integers through 128 bits, floats through f64.

use crate::test_values::Value;
use cuda_tiles::prelude::*;

/// `x` rounded to nearest even with `digits` significant bits, none of them below 2^`least`, and infinite from
/// 2^`limit` on.
///
/// The quotient by the distance of neighbours is exact, because that is a power of two.
pub(crate) fn round(x: f64, digits: i32, least: i32, limit: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(-1022);
    let distance = 2f64.powi((exponent + 1 - digits).max(least));
    let rounded = (x / distance).round_ties_even() * distance;
    if rounded.abs() >= 2f64.powi(limit) { f64::INFINITY.copysign(x) } else { rounded }
}

/// `x` rounded to f16.
pub(crate) fn round_to_f16(x: f64) -> f16 {
    f16::from_f64(round(x, 11, -24, 16))
}

/// `x` rounded to bf16.
pub(crate) fn round_to_bf16(x: f64) -> bf16 {
    bf16::from_f64(round(x, 8, -133, 128))
}

/// The significant bits of `value` that a float with `digits` of them keeps, rounded to nearest even.
pub(crate) fn round_integer(value: i128, digits: u32) -> f64 {
    let magnitude = value.unsigned_abs();
    let cut = (128 - magnitude.leading_zeros()).saturating_sub(digits);
    let (kept, rest) = (magnitude >> cut, magnitude & ((1 << cut) - 1));
    let half = if cut == 0 { 1 } else { 1u128 << (cut - 1) };
    let up = rest > half || (rest == half && cut > 0 && kept & 1 == 1);
    let rounded = ((kept + u128::from(up)) as f64) * 2f64.powi(cut as i32);
    if value < 0 { -rounded } else { rounded }
}

/// Numbers with arithmetic: what `Number` promises.
pub(crate) trait Reference: Value + Number {
    /// `a + b`.
    fn plus(a: Self, b: Self) -> Self;
    /// `a - b`.
    fn minus(a: Self, b: Self) -> Self;
    /// `a * b`.
    fn times(a: Self, b: Self) -> Self;
    /// `a / b`.
    fn over(a: Self, b: Self) -> Self;
    /// `a % b`.
    fn remainder(a: Self, b: Self) -> Self;
    /// `-a`.
    fn negated(a: Self) -> Self;
    /// `|a|`.
    fn magnitude(a: Self) -> Self;
    /// How `a` and `b` compare; `None` with a NaN. -0 equals +0.
    fn order(a: Self, b: Self) -> Option<std::cmp::Ordering>;
    /// Whether a zero is the lesser of both zeros.
    fn is_minus_zero(self) -> bool;
    /// As f64, exactly or rounded once.
    fn wide(self) -> f64;
    /// From the result of a computation in f64.
    fn narrow(value: f64) -> Self;
    /// Whether it is a NaN.
    fn not_a_number(self) -> bool {
        Self::order(self, self).is_none()
    }
    /// The smaller one.
    fn smaller(a: Self, b: Self) -> Self {
        match Self::order(a, b) {
            None if a.not_a_number() => b,
            None => a,
            Some(std::cmp::Ordering::Less) => a,
            Some(std::cmp::Ordering::Greater) => b,
            Some(std::cmp::Ordering::Equal) if a.is_minus_zero() => a,
            Some(std::cmp::Ordering::Equal) => b,
        }
    }
    /// The larger one.
    fn larger(a: Self, b: Self) -> Self {
        match Self::order(a, b) {
            None if a.not_a_number() => b,
            None => a,
            Some(std::cmp::Ordering::Less) => b,
            Some(std::cmp::Ordering::Greater) => a,
            Some(std::cmp::Ordering::Equal) if a.is_minus_zero() => b,
            Some(std::cmp::Ordering::Equal) => a,
        }
    }
    /// The smaller one, or NaN.
    fn smaller_or_nan(a: Self, b: Self) -> Self {
        if a.not_a_number() {
            a
        } else if b.not_a_number() {
            b
        } else {
            Self::smaller(a, b)
        }
    }
    /// The larger one, or NaN.
    fn larger_or_nan(a: Self, b: Self) -> Self {
        if a.not_a_number() {
            a
        } else if b.not_a_number() {
            b
        } else {
            Self::larger(a, b)
        }
    }
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Reference for $type {
            fn plus(a: Self, b: Self) -> Self {
                (a as i128 + b as i128) as $type
            }
            fn minus(a: Self, b: Self) -> Self {
                (a as i128 - b as i128) as $type
            }
            fn times(a: Self, b: Self) -> Self {
                (a as i128).wrapping_mul(b as i128) as $type
            }
            fn over(a: Self, b: Self) -> Self {
                (a as i128).checked_div(b as i128).unwrap_or(0) as $type
            }
            fn remainder(a: Self, b: Self) -> Self {
                (a as i128).checked_rem(b as i128).unwrap_or(a as i128) as $type
            }
            fn negated(a: Self) -> Self {
                (-(a as i128)) as $type
            }
            fn magnitude(a: Self) -> Self {
                (a as i128).unsigned_abs() as $type
            }
            fn order(a: Self, b: Self) -> Option<std::cmp::Ordering> {
                Some((a as i128).cmp(&(b as i128)))
            }
            fn is_minus_zero(self) -> bool {
                false
            }
            fn wide(self) -> f64 {
                self as f64
            }
            fn narrow(value: f64) -> Self {
                value as $type
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

// Results in f64 have more than twice the digits of the other types and two more, so that rounding them again changes
// nothing (S. Figueroa, "When is double rounding innocuous?", 1995).
macro_rules! floats {
    ($($type:ident: $sign:literal, |$value:ident| $wide:expr, $narrow:expr;)*) => { $(
        impl Reference for $type {
            fn plus(a: Self, b: Self) -> Self {
                Self::narrow(a.wide() + b.wide())
            }
            fn minus(a: Self, b: Self) -> Self {
                Self::narrow(a.wide() - b.wide())
            }
            fn times(a: Self, b: Self) -> Self {
                Self::narrow(a.wide() * b.wide())
            }
            fn over(a: Self, b: Self) -> Self {
                Self::narrow(a.wide() / b.wide())
            }
            fn remainder(a: Self, b: Self) -> Self {
                Self::narrow(a.wide() % b.wide())
            }
            fn negated(a: Self) -> Self {
                $type::from_bits(a.to_bits() ^ $sign)
            }
            fn magnitude(a: Self) -> Self {
                $type::from_bits(a.to_bits() & !$sign)
            }
            fn order(a: Self, b: Self) -> Option<std::cmp::Ordering> {
                a.wide().partial_cmp(&b.wide())
            }
            fn is_minus_zero(self) -> bool {
                self.to_bits() == $sign
            }
            fn wide(self) -> f64 {
                let $value = self;
                $wide
            }
            fn narrow($value: f64) -> Self {
                $narrow
            }
        }
    )* };
}
floats! {
    f16: 0x8000, |value| value.to_f64(), round_to_f16(value);
    bf16: 0x8000, |value| value.to_f64(), round_to_bf16(value);
    f32: 0x8000_0000, |value| f64::from(value), value as f32;
    f64: 0x8000_0000_0000_0000, |value| value, value;
}
