//! Element types: what a tile can hold, how it lies in memory, and which arithmetic it has.
//!
//! Elements are `bool`, the integers of 8 to 64 bits, [`f16`](struct@f16), [`bf16`], `f32` and `f64`.
//!
//! | trait | types | gives |
//! |---|---|---|
//! | [`Element`] | all | creation, loads, stores, selection, shape operations |
//! | [`Logical`] | `bool`, integers | `& \| ^ !` |
//! | [`Number`] | integers, floats | `+ - * / %`, whole quotients, negation, comparisons, minimum, maximum |
//! | [`Integer`] | integers | shifts |
//! | [`Float`] | floats | fma, roots, exponentials, trigonometry, activation functions |
//! | [`ApproximateFloat`] | `f16`, `bf16`, `f32` | the hardware's approximate forms |
//! | [`WholeExponent`] | integers of up to 32 bits, `bool` | exponents of `powi` |
//!
//! Integer arithmetic wraps. `x / 0` is 0 and `x % 0` is `x`; `MIN / -1` is `MIN` and `MIN % -1` is 0. A shift by
//! the width or more gives 0, or the sign for `>>` of a signed number.

mod atomic;
mod bits;
mod cast;
mod float;
mod number;
mod order;
mod pointer;
mod promote;

pub use atomic::{AtomicAdd, AtomicExchange, AtomicLogical, AtomicMinMax};
pub(crate) use bits::sealed as bits_transport;
pub use bits::{Bits, SameSize};
pub use cast::Cast;
pub use float::{ApproximateFloat, Float, WholeExponent};
pub use half::{bf16, f16};
pub use number::{Integer, Logical, Number};
pub use order::Ordered;
pub use pointer::Pointer;
pub use promote::{FitsElement, Promote};

/// A type that a tile can hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of tiles",
    label = "not an element type",
    note = "element types are bool, i8 to i64, u8 to u64, f16, bf16, f32 and f64"
)]
pub trait Element:
    sealed::Sealed + Copy + PartialEq + PartialOrd + core::fmt::Debug + Send + Sync + 'static
{
    /// How a value lies in memory.
    ///
    /// `bool` lies as one byte: loads take any nonzero byte as true, stores write 0 or 1.
    type Bits: Bits;
    /// Zero, or `false`.
    const ZERO: Self;
    /// The name users know it by.
    const NAME: &'static str;
    /// The value's bits.
    fn to_bits(self) -> Self::Bits;
    /// The value with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
}

mod sealed {
    /// Element types are known to the back ends: no others can be added.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty, $bits:ty, $zero:expr, |$value:ident| $to:expr, |$raw:ident| $from:expr;)*) => { $(
        impl Element for $type {
            type Bits = $bits;
            const ZERO: Self = $zero;
            const NAME: &'static str = stringify!($type);
            #[inline(always)]
            fn to_bits(self) -> $bits {
                let $value = self;
                $to
            }
            #[inline(always)]
            fn from_bits($raw: $bits) -> Self {
                $from
            }
        }
        impl sealed::Sealed for $type {}
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
