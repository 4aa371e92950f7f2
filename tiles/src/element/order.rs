//! The order of elements: comparisons, and the total order as unsigned numbers of the same order.

use super::{Element, Integer, bf16, f16};

/// Types whose elements compare: `false` below `true`, numbers by value, pointers by address.
///
/// The functions are those of the machine, as those of [`Number`](super::Number).
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` have no order",
    label = "expected bool, integers, floats or pointers",
    note = "convert first: `.cast::<f32>()`"
)]
pub trait Comparable: Element {
    /// The identity of maximum: `false`, negative infinity, or the least value.
    const LOWEST: Self;
    /// The identity of minimum: `true`, infinity, or the greatest value.
    const HIGHEST: Self;
    /// `self < other`; false with a NaN.
    fn less(self, other: Self) -> bool;
    /// `self <= other`; false with a NaN.
    #[inline_on_device]
    fn less_equal(self, other: Self) -> bool {
        !other.less(self)
    }
    /// The smaller one; a NaN loses against a number, and -0 is smaller than +0.
    #[inline_on_device]
    fn minimum(self, other: Self) -> Self {
        if other.less(self) { other } else { self }
    }
    /// The larger one; a NaN loses against a number, and +0 is larger than -0.
    #[inline_on_device]
    fn maximum(self, other: Self) -> Self {
        if self.less(other) { other } else { self }
    }
    /// The smaller one; a NaN wins.
    #[inline_on_device]
    fn min_propagate_nan(self, other: Self) -> Self {
        self.minimum(other)
    }
    /// The larger one; a NaN wins.
    #[inline_on_device]
    fn max_propagate_nan(self, other: Self) -> Self {
        self.maximum(other)
    }
    /// Whether it is not a number; only floats may be.
    #[inline_on_device]
    fn is_nan(self) -> bool {
        false
    }
}

macro_rules! comparable {
    ($($type:ident: $lowest:expr, $highest:expr;)*) => { $(
        impl Comparable for $type {
            const LOWEST: Self = $lowest;
            const HIGHEST: Self = $highest;
            #[inline_on_device]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline_on_device]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
        }
    )* };
    (integers $($type:ident)*) => { comparable! { $($type: $type::MIN, $type::MAX;)* } };
}
comparable! { bool: false, true; }
comparable!(integers i8 i16 i32 i64 u8 u16 u32 u64);

/// Types whose elements sort.
///
/// `false` before `true`; integers by value; floats from negative infinity to infinity, -0 before +0, then NaN: positive
/// ones by their bits, then negative ones.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` do not sort",
    label = "not a type with a total order",
    note = "bool, integers and floats sort"
)]
pub trait Ordered: Element {
    /// An unsigned number.
    type Key: Integer + Ord;
    /// The number, different for different bits, that sorts as the element does.
    fn to_key(self) -> Self::Key;
    /// The element of a key.
    fn from_key(key: Self::Key) -> Self;
}

macro_rules! ordered {
    ($($type:ty: $key:ty, |$value:ident| $to:expr, |$raw:ident| $from:expr;)*) => { $(
        impl Ordered for $type {
            type Key = $key;
            #[inline_on_device]
            fn to_key(self) -> $key {
                let $value = self;
                $to
            }
            #[inline_on_device]
            fn from_key($raw: $key) -> Self {
                $from
            }
        }
    )* };
}
ordered! {
    bool: u8, |value| value as u8, |key| key != 0;
    u8: u8, |value| value, |key| key;
    u16: u16, |value| value, |key| key;
    u32: u32, |value| value, |key| key;
    u64: u64, |value| value, |key| key;
    i8: u8, |value| value as u8 ^ 0x80, |key| (key ^ 0x80) as i8;
    i16: u16, |value| value as u16 ^ 0x8000, |key| (key ^ 0x8000) as i16;
    i32: u32, |value| value as u32 ^ 0x8000_0000, |key| (key ^ 0x8000_0000) as i32;
    i64: u64, |value| value as u64 ^ 0x8000_0000_0000_0000, |key| (key ^ 0x8000_0000_0000_0000) as i64;
}

/// Of a float with these bits: negative numbers are turned over, positive ones come after them, and the negative NaN, which
/// are the lowest then, go round to the end.
macro_rules! floats {
    ($($type:ident: $bits:ident $signed:ident;)*) => { $(
        impl Ordered for $type {
            type Key = $bits;
            #[inline_on_device]
            fn to_key(self) -> $bits {
                let bits = self.to_bits();
                let turned = bits ^ ((bits as $signed >> ($bits::BITS - 1)) as $bits | 1 << ($bits::BITS - 1));
                turned.wrapping_sub(!$type::NEG_INFINITY.to_bits())
            }
            #[inline_on_device]
            fn from_key(key: $bits) -> Self {
                let turned = key.wrapping_add(!$type::NEG_INFINITY.to_bits());
                let sign = 1 << ($bits::BITS - 1);
                $type::from_bits(if turned & sign != 0 { turned ^ sign } else { !turned })
            }
        }
    )* };
}
floats! { f16: u16 i16; bf16: u16 i16; f32: u32 i32; f64: u64 i64; }
