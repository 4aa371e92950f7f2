//! Whether a result is the right rounding of an exact value, decided in integers of any length.

use crate::test_values::Value;
use cuda_tiles::prelude::*;
use std::cmp::Ordering;

/// The number `±magnitude · 2^exponent`, with the lowest 32 digits of the magnitude first.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    negative: bool,
    magnitude: Vec<u32>,
    exponent: i32,
}

fn trimmed(mut magnitude: Vec<u32>) -> Vec<u32> {
    while magnitude.last() == Some(&0) {
        magnitude.pop();
    }
    magnitude
}

fn compare(a: &[u32], b: &[u32]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

impl Exact {
    /// A finite number.
    pub(crate) fn new(x: f64) -> Self {
        let field = (x.to_bits() >> 52 & 0x7ff) as i32;
        let fraction = x.to_bits() & ((1 << 52) - 1);
        let significand = if field == 0 { fraction } else { fraction | 1 << 52 };
        Self {
            negative: x.is_sign_negative(),
            magnitude: trimmed(vec![significand as u32, (significand >> 32) as u32]),
            exponent: field.max(1) - 1075,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.magnitude.is_empty()
    }

    pub(crate) fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    fn halved(&self) -> Self {
        Self { exponent: self.exponent - 1, ..self.clone() }
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut product = vec![0u32; self.magnitude.len() + other.magnitude.len()];
        for (i, &a) in self.magnitude.iter().enumerate() {
            let mut carry = 0u64;
            for (j, &b) in other.magnitude.iter().enumerate() {
                let sum = u64::from(a) * u64::from(b) + u64::from(product[i + j]) + carry;
                product[i + j] = sum as u32;
                carry = sum >> 32;
            }
            product[i + other.magnitude.len()] = carry as u32;
        }
        Self {
            negative: self.negative != other.negative,
            magnitude: trimmed(product),
            exponent: self.exponent + other.exponent,
        }
    }

    /// The magnitude in units of a smaller power of two.
    fn in_units(&self, exponent: i32) -> Vec<u32> {
        let shift = (self.exponent - exponent) as usize;
        let mut shifted = vec![0u32; shift / 32];
        let mut carry = 0u64;
        for &digits in &self.magnitude {
            let moved = (u64::from(digits) << (shift % 32)) | carry;
            shifted.push(moved as u32);
            carry = moved >> 32;
        }
        shifted.push(carry as u32);
        trimmed(shifted)
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let (a, b) = (self.in_units(exponent), other.in_units(exponent));
        let (high, low, negative) = match compare(&a, &b) {
            Ordering::Less => (b, a, other.negative),
            _ => (a, b, self.negative),
        };
        let mut magnitude = Vec::with_capacity(high.len() + 1);
        let mut carry = 0i64;
        for (i, &digits) in high.iter().enumerate() {
            let digit = i64::from(low.get(i).copied().unwrap_or(0));
            let sum =
                i64::from(digits) + carry + if self.negative == other.negative { digit } else { -digit };
            magnitude.push(sum as u32);
            carry = sum >> 32;
        }
        magnitude.push(carry as u32);
        Self { negative, magnitude: trimmed(magnitude), exponent }
    }

    /// How this number compares with `other`.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let difference = self.plus(&other.negated());
        match (difference.is_zero(), difference.negative) {
            (true, _) => Ordering::Equal,
            (_, true) => Ordering::Less,
            (_, false) => Ordering::Greater,
        }
    }
}

/// Where a result goes that lies between two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Direction {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A float whose numbers count on as their bits do.
pub(crate) trait Format: Value + Float {
    /// The bits of the least normal number.
    const LEAST_NORMAL: u64;
    /// The bits of infinity.
    const INFINITE: u64;
    /// The bits without the sign.
    fn magnitude(self) -> u64;
    /// Whether there is a minus, also before zero and NaN.
    fn is_minus(self) -> bool;
    /// The number with these bits; one above the greatest is the next that a larger format would have.
    fn exact(magnitude: u64) -> Exact;
}

macro_rules! formats {
    ($($type:ident: $bits:ident, $least_normal:literal, $infinity:literal, |$value:ident| $wide:expr;)*) => { $(
        impl Format for $type {
            const LEAST_NORMAL: u64 = $least_normal;
            const INFINITE: u64 = $infinity;
            fn magnitude(self) -> u64 {
                u64::from(self.to_bits() & ($bits::MAX >> 1))
            }
            fn is_minus(self) -> bool {
                self.to_bits() >> ($bits::BITS - 1) == 1
            }
            fn exact(magnitude: u64) -> Exact {
                let finite = |magnitude: u64| {
                    let $value = $type::from_bits(magnitude as $bits);
                    Exact::new($wide)
                };
                if magnitude < $infinity {
                    return finite(magnitude);
                }
                let (last, before) = (finite($infinity - 1), finite($infinity - 2));
                last.plus(&last).plus(&before.negated())
            }
        }
    )* };
}
formats! {
    f16: u16, 0x0400, 0x7c00, |value| value.to_f64();
    bf16: u16, 0x0080, 0x7f80, |value| value.to_f64();
    f32: u32, 0x0080_0000, 0x7f80_0000, |value| f64::from(value);
    f64: u64, 0x0010_0000_0000_0000, 0x7ff0_0000_0000_0000, |value| value;
}

/// Whether `result` is a nonzero value rounded in `direction`; `order` compares that value with a number. With `flush`
/// the result is zero where the value is below the least normal number.
pub(crate) fn is_rounded<T: Format>(
    result: T,
    direction: Direction,
    flush: bool,
    order: impl Fn(&Exact) -> Ordering,
) -> bool {
    let negative = order(&Exact::new(0.0)) == Ordering::Less;
    if Comparable::is_nan(result) || result.is_minus() != negative {
        return false;
    }
    let direction = match direction {
        Direction::Down if negative => Direction::Up,
        Direction::Up if negative => Direction::Zero,
        Direction::Down => Direction::Zero,
        other => other,
    };
    // The value's magnitude against that of a number.
    let against = |number: &Exact| {
        if negative { order(&number.negated()).reverse() } else { order(number) }
    };
    let middle = |below: u64| T::exact(below).plus(&T::exact(below + 1)).halved();
    let fits = |bits: u64| match direction {
        Direction::Nearest => {
            let even = bits & 1 == 0;
            let below = |order| order == Ordering::Less || (order == Ordering::Equal && even);
            (bits == T::INFINITE || below(against(&middle(bits))))
                && (bits == 0 || below(against(&middle(bits - 1)).reverse()))
        }
        Direction::Up => {
            (bits == T::INFINITE || against(&T::exact(bits)) != Ordering::Greater)
                && bits > 0
                && against(&T::exact(bits - 1)) == Ordering::Greater
        }
        _ => {
            bits < T::INFINITE
                && against(&T::exact(bits)) != Ordering::Less
                && (bits + 1 == T::INFINITE || against(&T::exact(bits + 1)) == Ordering::Less)
        }
    };
    // The hardware looks at the value before it rounds.
    let is_normal = || against(&T::exact(T::LEAST_NORMAL)) != Ordering::Less;
    match (flush, result.magnitude()) {
        (false, bits) => fits(bits),
        (true, bits) if bits >= T::LEAST_NORMAL => fits(bits) && is_normal(),
        (true, 0) => !is_normal(),
        (true, _) => false,
    }
}
