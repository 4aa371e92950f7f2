//! Explicit conversion between element types.
//!
//! Integer to integer wraps like `as`; float to integer rounds toward zero, saturates, and takes NaN to 0;
//! anything to `bool` is "not zero" (NaN is true); `bool` to a number is 0 or 1; every conversion to a float
//! rounds to nearest, ties to even, once. FP8 and FP4 saturate; other floats become infinite beyond their range. `i4` and `u4` are integers
//! like others.
//!
//! Floats convert to floats in other rounding modes by [`CastWith`]. To [`f8e8m0`](super::f8e8m0) there is no conversion without
//! one: a power of two is rarely near.

use super::{Element, Number, bf16, f16};
use crate::arch::float as machine;

/// Conversion of one element to type `U`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert to `{U}`",
    label = "no such conversion between element types",
    note = "to f8e8m0 a rounding mode must be given: `.cast_with::<f8e8m0>(TowardPositive)`",
    note = "f4e2m1x2, i4x2 and u4x2 are pairs: `.unpack()` them first, and `.pack()` tiles of f4e2m1, i4 or u4"
)]
pub trait Cast<U: Element>: Element {
    /// The converted element.
    fn cast(self) -> U;

    /// Two at once: packed instructions where the machine has them.
    #[inline_on_device]
    fn cast_pair(low: Self, high: Self) -> [U; 2] {
        [low.cast(), high.cast()]
    }
}

/// Every element is one of its own type.
impl<T: Element> Cast<T> for T {
    #[inline_on_device]
    fn cast(self) -> T {
        self
    }
}

macro_rules! casts {
    ($($from:ident to $($to:ident)*: |$value:ident| $result:expr;)*) => { $($( casts!(@one $from $to $value $result); )*)* };
    (@one $from:ident $to:ident $value:ident $result:expr) => {
        impl Cast<$to> for $from {
            #[inline_on_device]
            fn cast(self) -> $to {
                let $value = self;
                $result
            }
        }
    };
}

mod four_bits;
mod restricted;
mod rounding;

pub use rounding::{CastMode, CastWith, Unsaturated};

/// Conversions that are `as`.
macro_rules! primitive_casts {
    ($($from:ident to $($to:ident)*;)*) => { $($(
        impl Cast<$to> for $from {
            #[inline_on_device]
            fn cast(self) -> $to {
                self as $to
            }
        }
    )*)* };
}
primitive_casts! {
    i8 to i16 i32 i64 u8 u16 u32 u64 f32 f64;
    i16 to i8 i32 i64 u8 u16 u32 u64 f32 f64;
    i32 to i8 i16 i64 u8 u16 u32 u64 f32 f64;
    i64 to i8 i16 i32 u8 u16 u32 u64 f32 f64;
    u8 to i8 i16 i32 i64 u16 u32 u64 f32 f64;
    u16 to i8 i16 i32 i64 u8 u32 u64 f32 f64;
    u32 to i8 i16 i32 i64 u8 u16 u64 f32 f64;
    u64 to i8 i16 i32 i64 u8 u16 u32 f32 f64;
    f32 to i8 i16 i32 i64 u8 u16 u32 u64 f64;
    f64 to i8 i16 i32 i64 u8 u16 u32 u64 f32;
    bool to i8 i16 i32 i64 u8 u16 u32 u64;
}

/// Integers to `bool`, and `bool` to floats.
macro_rules! bool_casts {
    ($($type:ident)*; $($float:ident)*) => {
        $( casts! { $type to bool: |value| value != <$type as Element>::ZERO; } )*
        $( casts! { bool to $float: |value| if value { <$float as Number>::ONE } else { <$float as Element>::ZERO }; } )*
    };
}
bool_casts!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; f16 bf16 f32 f64);

// An integer of 16 bits or fewer is exact in f32. A wider one that f32 must round is beyond f16's range, where
// rounding first changes nothing; bf16 has f32's range, so wider ones go through f64, rounded to odd.
casts! {
    f16 to f32: |value| machine::f16_to_f32(value.to_bits());
    bf16 to f32: |value| machine::bf16_to_f32(value.to_bits());
    f64 to f16: |value| f16::from_bits(machine::f64_to_f16(value));
    f64 to bf16: |value| bf16::from_bits(machine::f64_to_bf16(value));
    f16 to bool: |value| value.to_bits() & 0x7fff != 0;
    bf16 to bool: |value| value.to_bits() & 0x7fff != 0;
    f16 to bf16 f64 i8 i16 i32 i64 u8 u16 u32 u64: |value| Cast::<f32>::cast(value).cast();
    bf16 to f16 f64 i8 i16 i32 i64 u8 u16 u32 u64: |value| Cast::<f32>::cast(value).cast();
    i8 to f16 bf16: |value| (value as f32).cast();
    u8 to f16 bf16: |value| (value as f32).cast();
    i16 to f16 bf16: |value| (value as f32).cast();
    u16 to f16 bf16: |value| (value as f32).cast();
    i32 to f16: |value| (value as f32).cast();
    u32 to f16: |value| (value as f32).cast();
    i64 to f16: |value| (value as f32).cast();
    u64 to f16: |value| (value as f32).cast();
    i32 to bf16: |value| (value as f64).cast();
    u32 to bf16: |value| (value as f64).cast();
    i64 to bf16: |value| Cast::<bf16>::cast(f64::copysign(odd(value.unsigned_abs()), value as f64));
    u64 to bf16: |value| Cast::<bf16>::cast(odd(value));
}

/// `value` with the bits below its 53 highest gathered into the lowest one, so that rounding it to fewer bits
/// later sees what was cut off.
#[inline_on_device]
fn odd(value: u64) -> f64 {
    let cut = (64 - 53u32).saturating_sub(value.leading_zeros());
    let lost = value & ((1 << cut) - 1) != 0;
    ((value >> cut << cut) | (u64::from(lost) << cut)) as f64
}

/// `value` as `f32`: exactly, or cut off with the lowest bit set, so that rounding it to at most 22 bits later sees what
/// was cut off.
#[inline_on_device]
fn exact_or_odd(value: f64) -> f32 {
    let cut = machine::f64_to_f32_toward_zero(value);
    let inexact = f64::from(cut) != value && !value.is_nan();
    f32::from_bits(cut.to_bits() | u32::from(inexact))
}

/// `f32` to the 16-bit floats: in pairs one instruction.
macro_rules! packed_casts {
    ($($type:ident, $one:ident, $pair:ident;)*) => { $(
        impl Cast<$type> for f32 {
            #[inline_on_device]
            fn cast(self) -> $type {
                $type::from_bits(machine::$one(self))
            }
            #[inline_on_device]
            fn cast_pair(low: Self, high: Self) -> [$type; 2] {
                let pair = machine::$pair(high, low);
                [$type::from_bits(pair as u16), $type::from_bits((pair >> 16) as u16)]
            }
        }
    )* };
}
packed_casts! {
    f16, f32_to_f16, f32_pair_to_f16x2;
    bf16, f32_to_bf16, f32_pair_to_bf16x2;
}
