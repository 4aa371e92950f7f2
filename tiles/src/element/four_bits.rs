//! Elements of four bits: the integers [`i4`] and [`u4`], and the pairs in which such elements lie in memory.
//!
//! They are types to store numbers in, for weights of few bits above all: convert them to compute, `t.cast::<f16>()`. Conversions follow
//! the rules of the wider integers: from integers they keep the lowest bits, from floats they cut off and saturate.

use super::{Element, f4e2m1};
use crate::sealed::sealed;
use core::cmp::Ordering;
use core::fmt;

macro_rules! integers {
    ($(
        $(#[$attribute:meta])*
        $name:ident: $byte:ident by $get:ident, |$bits:ident| $value:expr;
    )*) => { $(
        $(#[$attribute])*
        #[allow(non_camel_case_types, reason = "element types are written as Rust's own")]
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The least number.
            pub const MIN: Self = Self::saturating($byte::MIN);
            /// The greatest number.
            pub const MAX: Self = Self::saturating($byte::MAX);

            /// The number with these bits, of which the upper four are ignored.
            #[inline_on_device]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits & 0xf)
            }

            /// The bits; the upper four are zeros.
            #[inline_on_device]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The lowest four bits of `value`: what `as` would give.
            #[inline_on_device]
            pub const fn wrapping(value: $byte) -> Self {
                Self::from_bits(value as u8)
            }

            /// `value`, or the nearest number that there is.
            #[inline_on_device]
            pub const fn saturating(value: $byte) -> Self {
                // A byte has sixteen times the range.
                const LEAST: $byte = $byte::MIN / 16;
                const GREATEST: $byte = $byte::MAX / 16;
                Self::wrapping(if value < LEAST {
                    LEAST
                } else if value > GREATEST {
                    GREATEST
                } else {
                    value
                })
            }

            /// A constant of this type.
            ///
            /// # Panics
            /// (In a constant: does not compile.) If `value` needs more than four bits.
            pub const fn constant(value: $byte) -> Self {
                let constant = Self::wrapping(value);
                assert!(constant.$get() == value, concat!("the value is no ", stringify!($name), ": it needs more than four bits"));
                constant
            }

            /// The value.
            #[inline_on_device]
            pub const fn $get(self) -> $byte {
                let $bits = self.0;
                $value
            }
        }

        impl Element for $name {
            type Bits = u8;
            const ZERO: Self = Self(0);
            const NAME: &'static str = stringify!($name);
            const BIT_WIDTH: u32 = 4;
            #[inline_on_device]
            fn to_bits(self) -> u8 {
                $name::to_bits(self)
            }
            #[inline_on_device]
            fn from_bits(bits: u8) -> Self {
                $name::from_bits(bits)
            }
        }
        sealed! { [] $name; }

        impl PartialOrd for $name {
            #[inline_on_device]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            #[inline_on_device]
            fn cmp(&self, other: &Self) -> Ordering {
                self.$get().cmp(&other.$get())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.$get(), formatter)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.$get(), formatter)
            }
        }

        impl From<$name> for $byte {
            fn from(value: $name) -> $byte {
                value.$get()
            }
        }
    )* };
}
integers! {
    /// A signed integer of four bits, in two's complement: -8 to 7.
    ///
    /// In tiles it takes a byte. In memory two of them share one: tensors hold [`i4x2`].
    ///
    /// ```
    /// use cuda_tiles::element::i4;
    /// assert_eq!((i4::MIN.to_i8(), i4::MAX.to_i8()), (-8, 7));
    /// assert_eq!((i4::wrapping(9).to_i8(), i4::saturating(9).to_i8()), (-7, 7));
    /// assert_eq!(i4::constant(-3).to_bits(), 0b1101);
    /// ```
    #[doc(alias("int4", "int4b_t"))]
    i4: i8 by to_i8, |bits| ((bits << 4) as i8) >> 4;
    /// An unsigned integer of four bits: 0 to 15.
    ///
    /// In tiles it takes a byte. In memory two of them share one: tensors hold [`u4x2`].
    ///
    /// ```
    /// use cuda_tiles::element::u4;
    /// assert_eq!((u4::MIN.to_u8(), u4::MAX.to_u8()), (0, 15));
    /// assert_eq!((u4::wrapping(17).to_u8(), u4::saturating(17).to_u8()), (1, 15));
    /// ```
    #[doc(alias("uint4", "uint4b_t"))]
    u4: u8 by to_u8, |bits| bits;
}

macro_rules! pairs {
    ($( $(#[$attribute:meta])* $name:ident of $number:ident; )*) => { $(
        $(#[$attribute])*
        #[allow(non_camel_case_types, reason = "element types are written as Rust's own")]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The pair of `low`, which comes first, and `high`.
            #[inline_on_device]
            pub const fn new(low: $number, high: $number) -> Self {
                Self(low.to_bits() | high.to_bits() << 4)
            }

            /// The first number.
            #[inline_on_device]
            pub const fn low(self) -> $number {
                $number::from_bits(self.0 & 0xf)
            }

            /// The second number.
            #[inline_on_device]
            pub const fn high(self) -> $number {
                $number::from_bits(self.0 >> 4)
            }

            /// The pair with these bits.
            #[inline_on_device]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The bits.
            #[inline_on_device]
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }

        impl Element for $name {
            type Bits = u8;
            const ZERO: Self = Self(0);
            const NAME: &'static str = stringify!($name);
            const BIT_WIDTH: u32 = 8;
            #[inline_on_device]
            fn to_bits(self) -> u8 {
                self.0
            }
            #[inline_on_device]
            fn from_bits(bits: u8) -> Self {
                Self(bits)
            }
        }
        sealed! { [] $name; }

        /// Number by number.
        impl PartialEq for $name {
            #[inline_on_device]
            fn eq(&self, other: &Self) -> bool {
                self.low() == other.low() && self.high() == other.high()
            }
        }

        /// The first numbers decide, and where they are equal the second ones.
        impl PartialOrd for $name {
            #[inline_on_device]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                (self.low(), self.high()).partial_cmp(&(other.low(), other.high()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.debug_list().entry(&self.low()).entry(&self.high()).finish()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "[{}, {}]", self.low(), self.high())
            }
        }
    )* };
}
pairs! {
    /// Two [`f4e2m1`] in a byte, the first one in the low half: how FP4 lies in memory.
    ///
    /// A tensor of `N` pairs along its last axis is one of `2 N` numbers. [`Tile::unpack`](crate::tile::Tile::unpack) takes a tile
    /// of pairs apart, [`Tile::pack`](crate::tile::Tile::pack) puts it together. Pairs are equal number by number: -0 equals +0.
    ///
    /// ```
    /// use cuda_tiles::element::{f4e2m1, f4e2m1x2};
    /// let pair = f4e2m1x2::new(f4e2m1::from_f32(1.5), f4e2m1::from_f32(-6.0));
    /// assert_eq!(pair.to_bits(), 0xf3);
    /// assert_eq!((pair.low().to_f32(), pair.high().to_f32()), (1.5, -6.0));
    /// ```
    #[doc(alias("f4e2m1fnx2"))]
    f4e2m1x2 of f4e2m1;
    /// Two [`i4`] in a byte, the first one in the low half: how signed integers of four bits lie in memory.
    ///
    /// A tensor of `N` pairs along its last axis is one of `2 N` numbers. [`Tile::unpack`](crate::tile::Tile::unpack) takes a tile
    /// of pairs apart, [`Tile::pack`](crate::tile::Tile::pack) puts it together.
    ///
    /// ```
    /// use cuda_tiles::element::{i4, i4x2};
    /// let pair = i4x2::new(i4::constant(5), i4::constant(-1));
    /// assert_eq!(pair.to_bits(), 0xf5);
    /// assert_eq!((pair.low().to_i8(), pair.high().to_i8()), (5, -1));
    /// ```
    i4x2 of i4;
    /// Two [`u4`] in a byte, the first one in the low half: how unsigned integers of four bits lie in memory.
    ///
    /// A tensor of `N` pairs along its last axis is one of `2 N` numbers. [`Tile::unpack`](crate::tile::Tile::unpack) takes a tile
    /// of pairs apart, [`Tile::pack`](crate::tile::Tile::pack) puts it together.
    ///
    /// ```
    /// use cuda_tiles::element::{u4, u4x2};
    /// let pair = u4x2::new(u4::constant(5), u4::constant(15));
    /// assert_eq!(pair.to_bits(), 0xf5);
    /// assert_eq!((pair.low().to_u8(), pair.high().to_u8()), (5, 15));
    /// ```
    u4x2 of u4;
}
