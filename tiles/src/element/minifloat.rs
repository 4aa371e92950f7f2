//! Floats of eight bits and fewer, and TF32: types to store numbers in and to convert, without arithmetic.
//!
//! Compute in `f32` or a 16-bit float: `t.cast::<f32>()`, and back `t.cast::<f8e4m3>()`. Conversions to
//! [`f8e4m3`], [`f8e5m2`], [`f8ue5m3`] and [`f4e2m1`] round to nearest even and saturate: what lies beyond the greatest
//! number, infinity included, becomes that number (the `satfinite` of `cuda_fp8.h`, whose constructors do the same). FP8 that
//! overflows to infinity or NaN instead comes from `t.cast_with::<f8e4m3>(Unsaturated)`.

use super::Element;
use crate::arch::minifloat::{self as machine, E2M1, E4M3, E5M2, UE5M3};
use crate::sealed::sealed;
use core::cmp::Ordering;
use core::fmt;

macro_rules! formats {
    ($(
        $(#[$attribute:meta])*
        $name:ident: $bits:ident, $width:literal bits, $mask:literal, has zero $zero:literal;
    )*) => { $(
        $(#[$attribute])*
        #[allow(non_camel_case_types, reason = "element types are written as Rust's own")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name($bits);

        impl $name {
            /// The number with these bits; bits that the format does not have are ignored.
            #[inline_on_device]
            pub const fn from_bits(bits: $bits) -> Self {
                Self(bits)
            }

            /// The bits.
            #[inline_on_device]
            pub const fn to_bits(self) -> $bits {
                self.0 & $mask
            }
        }

        impl Element for $name {
            type Bits = $bits;
            const ZERO: Self = Self(0);
            const NAME: &'static str = stringify!($name);
            const BIT_WIDTH: u32 = $width;
            const HAS_ZERO: bool = $zero;
            #[inline_on_device]
            fn to_bits(self) -> $bits {
                $name::to_bits(self)
            }
            #[inline_on_device]
            fn from_bits(bits: $bits) -> Self {
                $name::from_bits(bits)
            }
        }
        sealed! { [] $name; }

        /// By value: -0 equals +0, and NaN equals nothing.
        impl PartialEq for $name {
            #[inline_on_device]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            #[inline_on_device]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), formatter)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), formatter)
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }
    )* };
}
formats! {
    /// TF32: the range of `f32` with 10 bits of mantissa. It takes 32 bits, of which the low 13 are ignored.
    ///
    /// Converted numbers have zeros there. Memory that was written as `f32` has other bits: TMA rounds to the
    /// nearest number, see [`TmaLoad`](crate::memory::TmaLoad).
    #[doc(alias("__nv_tf32", "tfloat32"))]
    tf32: u32, 19 bits, 0xffff_e000, has zero true;
    /// FP8 E4M3 of the Open Compute Project (`e4m3fn`): sign, 4 bits of exponent, 3 of mantissa. Up to 448; no infinity.
    ///
    /// ```
    /// use cuda_tiles::element::f8e4m3;
    /// assert_eq!(f8e4m3::from_f32(0.3).to_f32(), 0.3125);
    /// assert_eq!(f8e4m3::from_f32(1000.0), f8e4m3::MAX);
    /// assert_eq!(f8e4m3::from_bits(0x38).to_string(), "1");
    /// ```
    #[doc(alias("__nv_fp8_e4m3", "float8_e4m3fn", "f8e4m3fn", "float8e4nv"))]
    f8e4m3: u8, 8 bits, 0xff, has zero true;
    /// FP8 E5M2: sign, 5 bits of exponent, 2 of mantissa. The upper byte of an `f16`; numbers up to 57344, infinities, NaNs.
    #[doc(alias("__nv_fp8_e5m2", "float8_e5m2"))]
    f8e5m2: u8, 8 bits, 0xff, has zero true;
    /// FP8 E8M0: a power of two from 2^-127 to 2^127, or NaN. It has no sign and no zero: the scale of blocks of smaller numbers.
    ///
    /// The default value is the least number, 2^-127.
    #[doc(alias("__nv_fp8_e8m0", "float8_e8m0fnu", "f8e8m0fnu"))]
    f8e8m0: u8, 8 bits, 0xff, has zero false;
    /// FP8 UE5M3: 5 bits of exponent, 3 of mantissa, no sign. Up to 114688; no infinity.
    f8ue5m3: u8, 8 bits, 0xff, has zero true;
    /// FP4 E2M1: one of 0, 0.5, 1, 1.5, 2, 3, 4, 6 and a sign. Neither infinity nor NaN.
    ///
    /// In tiles it takes a byte. In memory two of them share one: tensors hold [`f4e2m1x2`](super::f4e2m1x2).
    #[doc(alias("__nv_fp4_e2m1", "float4_e2m1fn", "f4e2m1fn"))]
    f4e2m1: u8, 4 bits, 0x0f, has zero true;
}

/// How to make each format from `f32`, and what it has.
macro_rules! values {
    ($(
        $name:ident, |$bits:ident| $decode:expr, |$value:ident| $encode:expr, $(#[$rounding:meta])*
        greatest $greatest:literal, least $least:literal $(, nan $nan:literal)? $(, infinity $infinity:literal and $negative_infinity:literal)?
        ; signed $signed:literal, nan $has_nan:literal, infinity $has_infinity:literal, any number $rounds:literal;
    )*) => { $(
        impl $name {
            /// The greatest number.
            pub const MAX: Self = Self($greatest);
            /// The least number above zero.
            pub const MIN_POSITIVE: Self = Self($least);
            $(
                /// Not a number.
                pub const NAN: Self = Self($nan);
            )?
            $(
                /// Positive infinity.
                pub const INFINITY: Self = Self($infinity);
                /// Negative infinity.
                pub const NEGATIVE_INFINITY: Self = Self($negative_infinity);
            )?

            /// The value, exactly.
            #[inline_on_device]
            pub const fn to_f32(self) -> f32 {
                let $bits = self.to_bits();
                $decode
            }

            $(#[$rounding])*
            #[inline_on_device]
            pub const fn from_f32($value: f32) -> Self {
                Self($encode)
            }

            /// A constant of this type: `value`, rounded to nearest even.
            ///
            /// # Panics
            /// (In a constant: does not compile.) If `value` is nothing that the format has: beyond the greatest number, a
            /// negative number in a format without a sign, an infinity or a NaN in one that lacks it, or what is not a
            /// power of two in [`f8e8m0`].
            pub const fn constant(value: f32) -> Self {
                assert!($has_nan || !value.is_nan(), concat!(stringify!($name), " has no NaN"));
                assert!($has_infinity || !value.is_infinite(), concat!(stringify!($name), " has no infinity"));
                assert!($signed || value.is_nan() || value.to_bits() >> 31 == 0, concat!(stringify!($name), " has no negative numbers"));
                $(
                    if value.is_infinite() {
                        return Self(if value > 0.0 { $infinity } else { $negative_infinity });
                    }
                )?
                assert!(
                    value.is_nan() || value.abs() <= Self::MAX.to_f32(),
                    concat!("the value is beyond the greatest number of ", stringify!($name))
                );
                let constant = Self::from_f32(value);
                assert!(
                    $rounds || value.is_nan() || constant.to_f32() == value,
                    concat!(stringify!($name), " has powers of two only")
                );
                constant
            }
        }
    )* };
}
values! {
    tf32, |bits| f32::from_bits(bits), |value| machine::encode_tf32(value),
        /// The nearest number, ties to even; infinite beyond the greatest one.
        greatest 0x7f7f_e000, least 0x0000_2000, nan 0x7fff_e000, infinity 0x7f80_0000 and 0xff80_0000
        ; signed true, nan true, infinity true, any number true;
    f8e4m3, |bits| E4M3.decode(bits), |value| E4M3.encode(value),
        /// The nearest number, ties to even; the greatest one beyond it.
        greatest 0x7e, least 0x01, nan 0x7f ; signed true, nan true, infinity false, any number true;
    f8e5m2, |bits| E5M2.decode(bits), |value| E5M2.encode(value),
        /// The nearest number, ties to even; the greatest one beyond it, also for infinity.
        greatest 0x7b, least 0x01, nan 0x7f, infinity 0x7c and 0xfc ; signed true, nan true, infinity true, any number true;
    f8e8m0, |bits| machine::decode_e8m0(bits), |value| machine::encode_e8m0_up(value),
        /// The least power of two that is not below the magnitude of `value`, as the constructor of `cuda_fp8.h` rounds;
        /// 2^127 beyond that.
        greatest 0xfe, least 0x00, nan 0xff ; signed false, nan true, infinity false, any number false;
    f8ue5m3, |bits| UE5M3.decode(bits), |value| UE5M3.encode(value),
        /// The number nearest to the magnitude of `value`, ties to even; the greatest one beyond it.
        greatest 0xfe, least 0x01, nan 0xff ; signed false, nan true, infinity false, any number true;
    f4e2m1, |bits| E2M1.decode(bits), |value| E2M1.encode(value),
        /// The nearest number, ties to even; the greatest one beyond it, also for NaN.
        greatest 0x7, least 0x1 ; signed true, nan false, infinity false, any number true;
}

macro_rules! negative_zeros {
    ($($name:ident $bits:literal;)*) => { $(
        impl $name {
            /// Negative zero.
            pub const NEGATIVE_ZERO: Self = Self($bits);
        }
    )* };
}
negative_zeros! {
    tf32 0x8000_0000;
    f8e4m3 0x80;
    f8e5m2 0x80;
    f4e2m1 0x8;
}
