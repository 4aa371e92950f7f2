//! Element types: what a tile can hold, how it lies in memory, and which arithmetic it has.
//!
//! Elements are `bool`, the integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`], `f32` and `f64`, and to store floats in few bits
//! [`tf32`], [`f8e4m3`], [`f8e5m2`], [`f8e8m0`], [`f8ue5m3`] and [`f4e2m1`], integers [`i4`] and [`u4`]. What has four bits lies in memory in
//! pairs: [`f4e2m1x2`], [`i4x2`] and [`u4x2`].
//!
//! | trait | types | gives |
//! |---|---|---|
//! | [`Element`] | all | creation, loads, stores, selection, shape operations |
//! | [`Logical`] | `bool`, integers | `& \| ^ !` |
//! | [`Comparable`] | `bool`, integers, floats, pointers | comparisons, minimum, maximum |
//! | [`Number`] | integers, floats | `+ - * / %`, whole quotients, negation |
//! | [`Integer`] | integers | shifts |
//! | [`Float`] | floats | fma, roots, exponentials, trigonometry, activation functions |
//! | [`ApproximateFloat`] | `f16`, `bf16`, `f32` | the hardware's approximate forms |
//! | [`WholeExponent`] | integers of up to 32 bits, `bool` | exponents of `powi` |
//! | [`Classify`] | all that are numbers | what is NaN, what is infinite |
//! | [`Repack`] | all, but not used for `tf32` | taking bits apart and together along an axis |
//! | [`FourBits`], [`Pair`] | elements of four bits, and two of them in a byte | packing and unpacking |
//!
//! Integer arithmetic wraps. `x / 0` is 0 and `x % 0` is `x`; `MIN / -1` is `MIN` and `MIN % -1` is 0. A shift by
//! the width or more gives 0, or the sign for `>>` of a signed number.

use crate::sealed::Sealed;

mod atomic;
mod bits;
mod cast;
mod classify;
mod float;
mod four_bits;
mod minifloat;
mod number;
mod order;
pub(crate) mod packed;
mod pointer;
mod promote;
mod repack;
pub(crate) mod rounding;

pub use atomic::{AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax};
pub(crate) use bits::sealed as bits_transport;
pub use bits::{Bits, SameSize};
pub use cast::{Cast, CastMode, CastWith, Unsaturated};
pub use classify::Classify;
pub use float::{ApproximateFloat, Float, WholeExponent};
pub use four_bits::{f4e2m1x2, i4, i4x2, u4, u4x2};
pub use half::{bf16, f16};
pub use minifloat::{f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, tf32};
pub use number::{Integer, Logical, Number};
pub use order::{Comparable, Ordered};
pub use pointer::Pointer;
pub use promote::{FitsElement, Promote, PromoteMixed, StoredAs};
pub use repack::{FourBits, Pair, Repack, Word};

/// A type that a tile can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of tiles",
    label = "not an element type",
    note = "element types are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, and without arithmetic tf32, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f4e2m1, i4, u4 and the pairs f4e2m1x2, i4x2 and u4x2"
)]
#[doc(alias("ElementType", "TileTypeError"))]
pub trait Element: Sealed + Copy + PartialEq + PartialOrd + core::fmt::Debug + Send + Sync + 'static {
    /// How a value lies in memory.
    ///
    /// `bool` lies as one byte: loads take any nonzero byte as true, stores write 0 or 1.
    type Bits: Bits;
    /// The value whose bits are all 0: zero, or `false`, or in [`f8e8m0`], which has no zero, the least number.
    const ZERO: Self;
    /// Whether that is zero, so that there are tiles of zeros.
    const HAS_ZERO: bool = true;
    /// The bits that tell values apart: 8 for `bool` as it lies in memory, 19 for [`tf32`], 4 for [`FourBits`].
    const BIT_WIDTH: u32 = 8 * size_of::<Self::Bits>() as u32;
    /// The name users know it by.
    const NAME: &'static str;
    /// The value's bits.
    fn to_bits(self) -> Self::Bits;
    /// The value with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
}

macro_rules! elements {
    ($($type:ty, $bits:ty, $zero:expr, |$value:ident| $to:expr, |$raw:ident| $from:expr;)*) => { $(
        impl Element for $type {
            type Bits = $bits;
            const ZERO: Self = $zero;
            const NAME: &'static str = stringify!($type);
            #[inline_on_device]
            fn to_bits(self) -> $bits {
                let $value = self;
                $to
            }
            #[inline_on_device]
            fn from_bits($raw: $bits) -> Self {
                $from
            }
        }
    )* };
}
elements! {
    bool, u8, false, |value| value as u8, |bits| bits != 0;
    i8, u8, 0, |value| value as u8, |bits| bits as i8;
    i16, u16, 0, |value| value as u16, |bits| bits as i16;
    i32, u32, 0, |value| value as u32, |bits| bits as i32;
    i64, u64, 0, |value| value as u64, |bits| bits as i64;
    u8, u8, 0, |value| value, |bits| bits;
    u16, u16, 0, |value| value, |bits| bits;
    u32, u32, 0, |value| value, |bits| bits;
    u64, u64, 0, |value| value, |bits| bits;
    f16, u16, f16::ZERO, |value| value.to_bits(), |bits| f16::from_bits(bits);
    bf16, u16, bf16::ZERO, |value| value.to_bits(), |bits| bf16::from_bits(bits);
    f32, u32, 0.0, |value| value.to_bits(), |bits| f32::from_bits(bits);
    f64, u64, 0.0, |value| value.to_bits(), |bits| f64::from_bits(bits);
}
