//! The instructions of `arch/ptx/rounding.rs` on the CPU: same names, same results.
//!
//! A CPU rounds to nearest only. Here results are computed exactly, in integers, and rounded once in the wanted
//! direction: `Exact` is a number before rounding, `Format` a format to round to.

use core::cmp::Ordering;

/// Where a result goes that lies between two numbers of the format.
#[derive(Clone, Copy, PartialEq)]
enum Direction {
    NearestEven,
    Zero,
    Negative,
    Positive,
}

/// A binary format of IEEE 754.
trait Format {
    /// Digits of a significand, with the hidden one.
    const DIGITS: u32;
    /// The exponent of the least positive number.
    const LEAST: i32;
    /// Infinity's bits; those of all finite numbers are smaller.
    const INFINITY: u64;
    /// The number with these bits and this sign.
    fn new(negative: bool, magnitude: u64) -> Self;
    /// Infinities, and NaN.
    fn special(x: f64) -> Self;
}

macro_rules! formats {
    ($($(#[$attribute:meta])* $format:ty, $bits:ty, $digits:literal, $least:literal, $infinity:literal, $from_bits:expr, |$x:ident| $special:expr;)*) => { $(
        $(#[$attribute])*
        impl Format for $format {
            const DIGITS: u32 = $digits;
            const LEAST: i32 = $least;
            const INFINITY: u64 = $infinity;
            fn new(negative: bool, magnitude: u64) -> Self {
                $from_bits(magnitude as $bits | <$bits>::from(negative) << (<$bits>::BITS - 1))
            }
            fn special($x: f64) -> Self {
                $special
            }
        }
    )* };
}
formats! {
    f32, u32, 24, -149, 0x7f80_0000, f32::from_bits, |x| x as f32;
    f64, u64, 53, -1074, 0x7ff0_0000_0000_0000, f64::from_bits, |x| x;
    half::f16, u16, 11, -24, 0x7c00, half::f16::from_bits, |x| half::f16::from_bits(super::float::f64_to_f16(x));
    half::bf16, u16, 8, -133, 0x7f80, half::bf16::from_bits, |x| half::bf16::from_bits(super::float::f64_to_bf16(x));
}

/// The number `±significand · 2^exponent`; or, where digits were lost, one that differs from it by less than the lowest
/// bit, which is then set. Results have at least two bits more than any format, so that rounding cannot tell the
/// difference.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    significand: u128,
    exponent: i32,
}

impl Exact {
    /// A finite number.
    fn new(x: f64) -> Self {
        let field = (x.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = (x.to_bits() & ((1 << 52) - 1)) as u128;
        let (significand, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        Self { negative: x.is_sign_negative(), significand, exponent }
    }

    /// The same nonzero number with `bit` as the highest bit of its significand, above the present one.
    fn normalized(self, bit: u32) -> Self {
        let shift = self.significand.leading_zeros() - (127 - bit);
        Self { significand: self.significand << shift, exponent: self.exponent - shift as i32, ..self }
    }

    fn product(self, other: Self) -> Self {
        Self {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum; the direction decides the sign of zero.
    fn sum(self, other: Self, direction: Direction) -> Self {
        let zero = |negative| Self { negative, significand: 0, exponent: 0 };
        match (self.significand, other.significand) {
            (0, 0) if self.negative == other.negative => return zero(self.negative),
            (0, 0) => return zero(direction == Direction::Negative),
            (0, _) => return other,
            (_, 0) => return self,
            _ => {}
        }
        // Two numbers of 126 bits have a sum in 127 bits. Where the smaller one loses digits, the sum keeps 124.
        let (a, b) = (self.normalized(125), other.normalized(125));
        let (high, low) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
        let distance = (high.exponent - low.exponent) as u32;
        let aligned = low.significand.checked_shr(distance).unwrap_or(0);
        let lost = aligned.checked_shl(distance).unwrap_or(0) != low.significand;
        let signed = |negative: bool, magnitude: u128| {
            if negative { -(magnitude as i128) } else { magnitude as i128 }
        };
        let sum = signed(high.negative, high.significand) + signed(low.negative, aligned | u128::from(lost));
        if sum == 0 {
            return zero(direction == Direction::Negative);
        }
        Self { negative: sum < 0, significand: sum.unsigned_abs(), exponent: high.exponent }
    }

    /// The quotient by a nonzero number.
    fn quotient(self, divisor: Self) -> Self {
        let negative = self.negative != divisor.negative;
        if self.significand == 0 {
            return Self { negative, ..self };
        }
        let (dividend, divisor) = (self.normalized(127), divisor.normalized(62));
        let quotient = dividend.significand / divisor.significand;
        let lost = quotient * divisor.significand != dividend.significand;
        Self {
            negative,
            significand: quotient | u128::from(lost),
            exponent: dividend.exponent - divisor.exponent,
        }
    }

    /// The square root of a number that is not below zero.
    fn root(self) -> Self {
        if self.significand == 0 {
            return self;
        }
        let high = self.normalized(127);
        let even = if high.exponent % 2 == 0 { high } else { self.normalized(126) };
        let root = even.significand.isqrt();
        Self {
            negative: false,
            significand: root | u128::from(root * root != even.significand),
            exponent: even.exponent / 2,
        }
    }

    fn rounded<F: Format>(self, direction: Direction) -> F {
        if self.significand == 0 {
            return F::new(self.negative, 0);
        }
        let length = (128 - self.significand.leading_zeros()) as i32;
        // The exponent of the last digit that the format can hold.
        let unit = F::LEAST.max(self.exponent + length - F::DIGITS as i32);
        let shift = unit - self.exponent;
        let (kept, against_half) = if shift <= 0 {
            (self.significand << -shift, None)
        } else {
            let kept = self.significand.checked_shr(shift as u32).unwrap_or(0);
            let lost = self.significand - kept.checked_shl(shift as u32).unwrap_or(0);
            let half = 1u128.checked_shl(shift as u32 - 1).unwrap_or(u128::MAX);
            (kept, (lost != 0).then(|| lost.cmp(&half)))
        };
        let away = match direction {
            Direction::NearestEven => true,
            Direction::Zero => false,
            Direction::Negative => self.negative,
            Direction::Positive => !self.negative,
        };
        let up = away
            && match (direction, against_half) {
                (_, None) => false,
                (Direction::NearestEven, Some(Ordering::Equal)) => kept & 1 == 1,
                (Direction::NearestEven, Some(order)) => order == Ordering::Greater,
                _ => true,
            };
        // The hidden digit, where there is one, and a carry add to the exponent.
        let magnitude = (((unit - F::LEAST) as u64) << (F::DIGITS - 1)) + kept as u64 + u64::from(up);
        let most = F::INFINITY - u64::from(!away);
        F::new(self.negative, magnitude.min(most))
    }
}

fn add<F: Format>(a: f64, b: f64, direction: Direction) -> F {
    if !a.is_finite() || !b.is_finite() {
        return F::special(a + b);
    }
    Exact::new(a).sum(Exact::new(b), direction).rounded(direction)
}

fn multiply<F: Format>(a: f64, b: f64, direction: Direction) -> F {
    if !a.is_finite() || !b.is_finite() {
        return F::special(a * b);
    }
    Exact::new(a).product(Exact::new(b)).rounded(direction)
}

fn fma<F: Format>(a: f64, b: f64, c: f64, direction: Direction) -> F {
    if !a.is_finite() || !b.is_finite() || !c.is_finite() {
        return F::special(libm::fma(a, b, c));
    }
    Exact::new(a).product(Exact::new(b)).sum(Exact::new(c), direction).rounded(direction)
}

fn divide<F: Format>(a: f64, b: f64, direction: Direction) -> F {
    if !a.is_finite() || !b.is_finite() || b == 0.0 {
        return F::special(a / b);
    }
    Exact::new(a).quotient(Exact::new(b)).rounded(direction)
}

fn sqrt<F: Format>(x: f64, direction: Direction) -> F {
    if !x.is_finite() || x < 0.0 {
        return F::special(libm::sqrt(x));
    }
    Exact::new(x).root().rounded(direction)
}

fn convert<F: Format>(x: f32, direction: Direction) -> F {
    if !x.is_finite() {
        return F::special(x as f64);
    }
    Exact::new(x as f64).rounded(direction)
}

/// A subnormal number becomes a zero of its sign, as with `.ftz`.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

/// Functions whose `f32` operands and result flush. Hardware looks at the result before it rounds: one that rounding lifts
/// to the least normal number flushes too, which only its value rounded toward zero shows.
macro_rules! flushing {
    ($($(#[$attribute:meta])* $name:ident($($operand:ident),*) = $value:expr $(, toward zero $cut:expr)?;)*) => { $(
        $(#[$attribute])*
        pub fn $name($($operand: f32),*) -> f32 {
            $( let $operand = flush($operand); )*
            let result: f32 = $value;
            $(
                if result.abs() == f32::MIN_POSITIVE {
                    let cut: f32 = $cut;
                    return if cut.is_subnormal() { 0f32.copysign(result) } else { result };
                }
            )?
            flush(result)
        }
    )* };
}

macro_rules! rounded {
    ($module:ident, $direction:ident, $how:literal) => {
        #[doc = concat!("Rounded ", $how, ".")]
        pub mod $module {
            use super::{Direction, add, convert, divide, flush, fma, multiply, sqrt};

            rounded!(@type $direction, f32, add_f32 subtract_f32 multiply_f32 divide_f32 fma_f32 sqrt_f32);
            rounded!(@type $direction, f64, add_f64 subtract_f64 multiply_f64 divide_f64 fma_f64 sqrt_f64);
            rounded!(@flushing $direction);

            /// As an f16.
            pub fn f32_to_f16(x: f32) -> u16 {
                convert::<half::f16>(x, Direction::$direction).to_bits()
            }

            /// As a bf16.
            pub fn f32_to_bf16(x: f32) -> u16 {
                convert::<half::bf16>(x, Direction::$direction).to_bits()
            }
        }
    };
    (@type $direction:ident, $type:ident, $add:ident $subtract:ident $multiply:ident $divide:ident $fma:ident $sqrt:ident) => {
        /// `a + b`.
        pub fn $add(a: $type, b: $type) -> $type {
            add(a.into(), b.into(), Direction::$direction)
        }
        /// `a - b`.
        pub fn $subtract(a: $type, b: $type) -> $type {
            add(a.into(), (-b).into(), Direction::$direction)
        }
        /// `a * b`.
        pub fn $multiply(a: $type, b: $type) -> $type {
            multiply(a.into(), b.into(), Direction::$direction)
        }
        /// `a / b`.
        pub fn $divide(a: $type, b: $type) -> $type {
            divide(a.into(), b.into(), Direction::$direction)
        }
        /// `a * b + c`, rounded once.
        pub fn $fma(a: $type, b: $type, c: $type) -> $type {
            fma(a.into(), b.into(), c.into(), Direction::$direction)
        }
        /// Square root.
        pub fn $sqrt(x: $type) -> $type {
            sqrt(x.into(), Direction::$direction)
        }
    };
    (@flushing $direction:ident) => {
        flushing! {
            /// `a + b`; subnormal operands and results become zero.
            add_flush_f32(a, b) = add(a.into(), b.into(), Direction::$direction),
                toward zero add(a.into(), b.into(), Direction::Zero);
            /// `a - b`; subnormal operands and results become zero.
            subtract_flush_f32(a, b) = add(a.into(), (-b).into(), Direction::$direction),
                toward zero add(a.into(), (-b).into(), Direction::Zero);
            /// `a * b`; subnormal operands and results become zero.
            multiply_flush_f32(a, b) = multiply(a.into(), b.into(), Direction::$direction),
                toward zero multiply(a.into(), b.into(), Direction::Zero);
            /// `a / b`; subnormal operands and results become zero.
            divide_flush_f32(a, b) = divide(a.into(), b.into(), Direction::$direction),
                toward zero divide(a.into(), b.into(), Direction::Zero);
            /// `a * b + c`, rounded once; subnormal operands and results become zero.
            fma_flush_f32(a, b, c) = fma(a.into(), b.into(), c.into(), Direction::$direction),
                toward zero fma(a.into(), b.into(), c.into(), Direction::Zero);
            /// Square root; subnormal operands count as zero.
            sqrt_flush_f32(x) = sqrt(x.into(), Direction::$direction);
        }
    };
}

rounded!(toward_zero, Zero, "toward zero");
rounded!(toward_negative, Negative, "toward negative infinity");
rounded!(toward_positive, Positive, "toward positive infinity");

/// Rounded to nearest, ties to even. Without flushing these are the operators.
pub mod nearest_even {
    use super::{Direction, add, divide, flush, fma, multiply, sqrt};

    rounded!(@flushing NearestEven);
}

flushing! {
    /// The smaller one; a NaN gives way to a number. Subnormal operands become zero.
    min_flush_f32(a, b) = super::float::min_f32(a, b);
    /// The larger one; a NaN gives way to a number. Subnormal operands become zero.
    max_flush_f32(a, b) = super::float::max_f32(a, b);
    /// The smaller one, or NaN if there is a NaN. Subnormal operands become zero.
    min_nan_flush_f32(a, b) = super::float::min_nan_f32(a, b);
    /// The larger one, or NaN if there is a NaN. Subnormal operands become zero.
    max_nan_flush_f32(a, b) = super::float::max_nan_f32(a, b);
    /// `a / b`; subnormal operands and results become zero.
    divide_approximate_flush_f32(a, b) = a / b, toward zero toward_zero::divide_f32(a, b);
    /// `a / b`; subnormal operands and results become zero.
    divide_full_flush_f32(a, b) = a / b, toward zero toward_zero::divide_f32(a, b);
    /// `sqrt(x)`; subnormal operands count as zero.
    sqrt_approximate_flush_f32(x) = libm::sqrtf(x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit patterns of all kinds: odd multipliers walk through all bits, and every third is drawn towards one.
    fn numbers() -> impl Iterator<Item = f64> {
        let special =
            [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, -5e-324, f64::INFINITY, f64::NAN];
        let mut state = 1u64;
        let random = (0..30_000).map(move |k| {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            f64::from_bits(if k % 3 == 0 { state } else { (state >> 12) | (1020 + state % 8) << 52 })
        });
        special.into_iter().chain(random)
    }

    #[test]
    fn nearest_even_is_what_processors_do() {
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let nearest = Direction::NearestEven;
        for ((a, b), c) in numbers().zip(numbers().skip(1)).zip(numbers().skip(2)) {
            assert!(same(add(a, b, nearest), a + b), "{a:e} + {b:e}");
            assert!(same(multiply(a, b, nearest), a * b), "{a:e} * {b:e}");
            assert!(same(divide(a, b, nearest), a / b), "{a:e} / {b:e}");
            assert!(same(fma(a, b, c, nearest), libm::fma(a, b, c)), "{a:e} * {b:e} + {c:e}");
            assert!(same(sqrt(a, nearest), libm::sqrt(a)), "the root of {a:e}");
            let narrow: f32 = multiply(a, 1.0, nearest);
            assert!(same(narrow.into(), (a as f32).into()), "{a:e} as f32");
        }
    }

    #[test]
    fn directions_enclose_what_is_inexact() {
        for (a, b) in numbers().zip(numbers().skip(1)) {
            let (low, high): (f64, f64) =
                (divide(a, b, Direction::Negative), divide(a, b, Direction::Positive));
            let cut: f64 = divide(a, b, Direction::Zero);
            if low.is_nan() {
                continue;
            }
            assert!(low <= a / b && a / b <= high, "{a:e} / {b:e}");
            assert!(low == high || low.next_up() == high, "{a:e} / {b:e}");
            assert_eq!(
                cut.to_bits(),
                if cut.is_sign_negative() { high } else { low }.to_bits(),
                "{a:e} / {b:e}"
            );
        }
    }
}
