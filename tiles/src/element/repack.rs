//! How many bits of an element are its value, so that some elements fit into one of another type.

use super::{
    Bits, Element, Integer, bf16, f4e2m1, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4, i4x2, tf32, u4,
    u4x2,
};
use crate::registers::PowerOfTwo;
use typenum::{U1, U4, U8, U16, U32, U64};

/// Elements that [`Tile::repack`](crate::tile::Tile::repack) takes apart and puts together: all but `tf32`, whose 19 bits
/// fill nothing, so that it does not compile there.
pub trait Repack: Element<Bits: Word> {
    /// Bits of the value: 1 for `bool`, 4 for [`FourBits`], else those of the type in memory.
    type Width: PowerOfTwo;
}

macro_rules! widths {
    ($($width:ident: $($type:ident)*;)*) => { $($( impl Repack for $type { type Width = $width; } )*)* };
}
widths! {
    U1: bool;
    U4: f4e2m1 i4 u4;
    U8: i8 u8 f8e4m3 f8e5m2 f8e8m0 f8ue5m3 f4e2m1x2 i4x2 u4x2;
    U16: i16 u16 f16 bf16;
    U32: i32 u32 f32 tf32;
    U64: i64 u64 f64;
}

/// Elements of four bits: [`f4e2m1`], [`i4`] and [`u4`]. In tiles each takes a byte, in memory two of them share one.
#[diagnostic::on_unimplemented(message = "`{Self}` has no four bits", label = "expected f4e2m1, i4 or u4")]
pub trait FourBits: Repack<Bits = u8, Width = U4> {
    /// Two of them in a byte.
    type Pair: Pair<Number = Self>;
}

/// Two elements of four bits in a byte, the first one in the low half: [`f4e2m1x2`], [`i4x2`] and [`u4x2`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pair of elements of four bits",
    label = "expected f4e2m1x2, i4x2 or u4x2"
)]
pub trait Pair: Repack<Bits = u8, Width = U8> {
    /// One of them.
    type Number: FourBits<Pair = Self>;
}

macro_rules! pairs {
    ($($pair:ident of $number:ident;)*) => { $(
        impl Pair for $pair {
            type Number = $number;
        }
        impl FourBits for $number {
            type Pair = $pair;
        }
    )* };
}
pairs! {
    f4e2m1x2 of f4e2m1;
    i4x2 of i4;
    u4x2 of u4;
}

/// Bits with arithmetic.
pub trait Word: Bits + Integer<Bits = Self> {
    /// This type, of 16 bits at least.
    type AtLeast16: Word;
    /// This type, of 32 bits at least.
    type AtLeast32: Word;
    /// The wider one of this type and `Other`.
    type Wider<Other: Word>: Word;
    /// The same bits and zeros above them.
    fn widen(self) -> u64;
    /// The low bits.
    fn narrow(bits: u64) -> Self;
}

macro_rules! words {
    ($($type:ident: $at_least_16:ident, $at_least_32:ident, $other:ident => $wider:ty;)*) => { $(
        impl Word for $type {
            type AtLeast16 = $at_least_16;
            type AtLeast32 = $at_least_32;
            type Wider<$other: Word> = $wider;
            #[inline_on_device]
            fn widen(self) -> u64 {
                u64::from(self)
            }
            #[inline_on_device]
            fn narrow(bits: u64) -> Self {
                bits as $type
            }
        }
    )* };
}
words! {
    u8: u16, u32, Other => Other;
    u16: u16, u32, Other => Other::AtLeast16;
    u32: u32, u32, Other => Other::AtLeast32;
    u64: u64, u64, Other => u64;
}
