//! What the tests of the CPU back end share: tiles to and from vectors, and element types as exact numbers.

#![allow(dead_code, reason = "each test program uses some of it")]

pub(crate) mod formats;

use cuda_tiles::cpu;
use cuda_tiles::prelude::*;
use std::sync::{Arc, Mutex};

/// The elements of a tile in row-major order.
pub(crate) fn elements<T: Element, S: Shape, L: Layout>(tile: Tile<T, S, L>) -> Vec<T> {
    let found = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&found);
    // A block of one thread goes through its elements in order.
    let _ = tile.map(move |x| {
        sink.lock().expect("no test panics while it holds the lock").push(x);
        x
    });
    let found = found.lock().expect("as above");
    assert_eq!(found.len(), S::LEN, "a tile has an element for each number");
    found.clone()
}

/// A tile of these elements, in row-major order.
pub(crate) fn tile<T: Element, S: Shape>(values: &[T], shape: S) -> Tile<T, S, Blocked<cpu::CpuBlock>> {
    assert_eq!(values.len(), S::LEN, "one value for each element");
    let values: Arc<[T]> = values.into();
    cpu::block(|cx| cx.iota::<u32>(shape).map(move |i| values[i as usize]))
}

/// An element as an exact number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact {
    /// `bool` and integers.
    Integer(i128),
    /// Floats.
    Real(f64),
}

/// An element type as the tests see it: independent of the conversions of the library.
pub(crate) trait Sample: Element {
    /// Values at the edges of the type.
    fn special() -> Vec<Self>;
    /// A value of any bits.
    fn of_bits(bits: u64) -> Self;
    /// The value.
    fn exact(self) -> Exact;
    /// The value converted by the rules of the library's documentation, with exact arithmetic.
    fn of(exact: Exact) -> Self;
    /// Whether both are the same value: NaNs are, zeros of different sign are not.
    fn same(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Sample for $type {
            fn special() -> Vec<Self> {
                vec![0, 1, 2, 3, 7, $type::MIN, $type::MIN + 1, $type::MAX, $type::MAX - 1, $type::MAX / 2, $type::MAX / 2 + 1, !0, !1]
            }
            fn of_bits(bits: u64) -> Self {
                bits as $type
            }
            fn exact(self) -> Exact {
                Exact::Integer(i128::from(self))
            }
            fn of(exact: Exact) -> Self {
                match exact {
                    Exact::Integer(number) => number as $type,
                    Exact::Real(number) => (number as i128).clamp($type::MIN.into(), $type::MAX.into()) as $type,
                }
            }
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Sample for bool {
    fn special() -> Vec<Self> {
        vec![false, true]
    }
    fn of_bits(bits: u64) -> Self {
        bits & 1 == 1
    }
    fn exact(self) -> Exact {
        Exact::Integer(self.into())
    }
    fn of(exact: Exact) -> Self {
        exact != Exact::Integer(0) && exact != Exact::Real(0.0)
    }
    fn same(self, other: Self) -> bool {
        self == other
    }
}

/// `number` rounded to nearest, ties to even, to `precision` bits with the exponents of a float whose least normal
/// number is `2^least` and whose greatest is below `2^beyond`. Scaling by powers of two is exact here.
fn rounded(number: f64, precision: i32, least: i32, beyond: i32) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let exponent = (number.abs().log2().floor() as i32).clamp(-1074, 1023);
    let exponent = if 2f64.powi(exponent) > number.abs() { exponent - 1 } else { exponent };
    let exponent =
        if exponent < 1023 && 2f64.powi(exponent + 1) <= number.abs() { exponent + 1 } else { exponent };
    let quantum = exponent.max(least) - (precision - 1);
    // In two steps, as 2^1074 and more is no f64.
    let (half, rest) = (quantum / 2, quantum - quantum / 2);
    let scaled = number * 2f64.powi(-half) * 2f64.powi(-rest);
    let result = scaled.round_ties_even() * 2f64.powi(half) * 2f64.powi(rest);
    if result.abs() >= 2f64.powi(beyond) { f64::INFINITY.copysign(number) } else { result }
}

/// `number` with all but its `precision` highest bits rounded away, to nearest, ties to even.
fn shortened(number: i128, precision: u32) -> f64 {
    let magnitude = number.unsigned_abs();
    let length = u128::BITS - magnitude.leading_zeros();
    let cut = length.saturating_sub(precision);
    let (kept, lost) = (magnitude >> cut, magnitude & ((1 << cut) - 1));
    let middle = if cut == 0 { u128::MAX } else { 1 << (cut - 1) };
    let up = lost > middle || (lost == middle && kept & 1 == 1);
    let result = ((kept + u128::from(up)) as f64) * 2f64.powi(cut as i32);
    if number < 0 { -result } else { result }
}

macro_rules! floats {
    ($($type:ident, $bits:ty, $precision:literal, $least:literal, $beyond:literal, |$value:ident| $wide:expr, |$exact:ident| $narrow:expr;)*) => { $(
        impl Sample for $type {
            fn special() -> Vec<Self> {
                let one = $type::of(Exact::Integer(1)).to_bits();
                let infinity = $type::INFINITY.to_bits();
                let sign = 1 << (8 * size_of::<$bits>() - 1);
                [0, 1, 2, one, one + 1, one - 1, infinity - 1, infinity, infinity + 1, !sign, infinity >> 1,
                    $type::of(Exact::Real(0.5)).to_bits(), $type::of(Exact::Real(2.5)).to_bits(), $type::of(Exact::Real(255.5)).to_bits(),
                    $type::of(Exact::Real(3e9)).to_bits(), $type::of(Exact::Real(1e19)).to_bits()]
                    .into_iter()
                    .flat_map(|bits: $bits| [$type::from_bits(bits), $type::from_bits(bits | sign)])
                    .collect()
            }
            fn of_bits(bits: u64) -> Self {
                $type::from_bits(bits as $bits)
            }
            fn exact(self) -> Exact {
                let $value = self;
                Exact::Real($wide)
            }
            fn of(exact: Exact) -> Self {
                let $exact = match exact {
                    Exact::Integer(number) => rounded(shortened(number, $precision), $precision, $least, $beyond),
                    Exact::Real(number) => rounded(number, $precision, $least, $beyond),
                };
                $narrow
            }
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )* };
}

/// The sign, exponent and mantissa of a 16-bit float as an exact f64.
fn widened(bits: u16, precision: i32, least: i32) -> f64 {
    let mantissa_bits = precision - 1;
    let (mantissa, exponent) =
        (f64::from(bits & ((1 << mantissa_bits) - 1)), i32::from(bits & 0x7fff) >> mantissa_bits);
    let most = (1 << (15 - mantissa_bits)) - 1;
    let magnitude = if exponent == most {
        if mantissa == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if exponent == 0 {
        mantissa * 2f64.powi(least - mantissa_bits)
    } else {
        (mantissa + 2f64.powi(mantissa_bits)) * 2f64.powi(exponent - 1 + least - mantissa_bits)
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// The bits of an f64 that is a number of the 16-bit float: the only ones that [`widened`] takes to it.
fn narrowed(number: f64, precision: i32, least: i32) -> u16 {
    if number.is_nan() {
        return 0x7fff;
    }
    let (mut low, mut high) = (0u16, 0x7fff);
    while low < high {
        let middle = low.midpoint(high);
        if widened(middle, precision, least) < number.abs() { low = middle + 1 } else { high = middle }
    }
    assert_eq!(widened(low, precision, least), number.abs(), "the number was rounded to the type");
    low | if number.is_sign_negative() { 0x8000 } else { 0 }
}

floats! {
    f16, u16, 11, -14, 16, |value| widened(value.to_bits(), 11, -14), |number| f16::from_bits(narrowed(number, 11, -14));
    bf16, u16, 8, -126, 128, |value| widened(value.to_bits(), 8, -126), |number| bf16::from_bits(narrowed(number, 8, -126));
    f32, u32, 24, -126, 128, |value| f64::from(value), |number| number as f32;
    f64, u64, 53, -1022, 1024, |value| value, |number| number;
}
