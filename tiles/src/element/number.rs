//! Arithmetic of integers and floats, one element at a time.

use super::{Cast, Classify, Comparable, Element, bf16, f16};
use crate::arch::{convert, float as machine};
use crate::math::remainder;
use num_traits::{Bounded, One, Zero};

/// `bool` and the integers: bitwise logic.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` have no bitwise operations",
    label = "expected bool or an integer",
    note = "`& | ^ !` work on tiles of bool and of integers; compare floats first, or bitcast them"
)]
#[doc(alias("bool_"))]
pub trait Logical: Element {
    /// `self & other`.
    fn and(self, other: Self) -> Self;
    /// `self | other`.
    fn or(self, other: Self) -> Self;
    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;
    /// `!self`.
    fn not(self) -> Self;
}

/// Integers and floats: arithmetic.
///
/// The functions are those of the machine: on a GPU single instructions where it has them. Generic device code
/// should call them (or the operators of tiles) rather than the operators of `T`, which for [`f16`](struct@f16) and
/// [`bf16`] are written for CPUs.
#[diagnostic::on_unimplemented(
    message = "tiles of `{Self}` have no arithmetic",
    label = "expected integers or floats",
    note = "convert first: `.cast::<i32>()`"
)]
pub trait Number: Comparable + Classify + Zero + One + Bounded {
    /// One.
    const ONE: Self;
    /// Whether sums and products are the same in any order, as those of integers are.
    const ASSOCIATIVE: bool;
    /// The type in which many elements are added up or multiplied: `f32` for [`f16`](struct@f16) and [`bf16`], for all
    /// others the type itself.
    type Accumulator: Number<Accumulator = Self::Accumulator>;
    /// The same number as an accumulator; exact.
    fn to_accumulator(self) -> Self::Accumulator;
    /// An accumulator, rounded once.
    fn from_accumulator(total: Self::Accumulator) -> Self;
    /// Sum; integers wrap.
    fn add(self, other: Self) -> Self;
    /// Difference; integers wrap.
    fn sub(self, other: Self) -> Self;
    /// Product; integers wrap.
    fn mul(self, other: Self) -> Self;
    /// Quotient; integers truncate toward zero, and by zero it is zero.
    fn div(self, other: Self) -> Self;
    /// Remainder with the sign of `self`; by zero it is `self` for integers and NaN for floats.
    fn rem(self, other: Self) -> Self;
    /// Quotient rounded toward negative infinity, of floats the floor of `self / other`; of integers by zero it is zero.
    fn floor_div(self, other: Self) -> Self;
    /// Quotient rounded toward positive infinity, of floats the ceiling of `self / other`; of integers by zero it is zero.
    fn ceil_div(self, other: Self) -> Self;
    /// Remainder with the sign of `other`, as Python's `%`; by zero it is `self` for integers and NaN for floats.
    ///
    /// Of floats it is `self % other`, plus `other` where the signs differ, rounded once; a zero has the sign of `other`.
    fn modulo(self, other: Self) -> Self;
    /// The whole number of times that `other` fits into `self`, and the remainder `self % other` that is left.
    fn div_rem(self, other: Self) -> (Self, Self);
    /// The same rounded toward negative infinity, with the remainder [`modulo`](Number::modulo): Python's `divmod`.
    fn divmod(self, other: Self) -> (Self, Self);
    /// Negation; unsigned integers and the least integer wrap.
    fn neg(self) -> Self;
    /// Magnitude; of the least integer it is that integer.
    fn abs(self) -> Self;
}

/// Integers: shifts, counts and order of bits, high products, saturation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer element type",
    label = "expected integers",
    note = "shifts, bit counts and `iota` are for tiles of integers; convert with `.cast::<...>()`"
)]
#[doc(alias("int8", "uint64", "int32"))]
pub trait Integer: Number + Logical {
    /// The width in bits.
    const WIDTH: u32;
    /// Whether one of the bits is a sign.
    const SIGNED: bool;
    /// Shift left; by the width or more it is 0.
    fn shl(self, amount: u32) -> Self;
    /// Shift right, keeping the sign of signed integers; by the width or more it is 0 or -1.
    fn shr(self, amount: u32) -> Self;
    /// As a shift amount: negative or huge values become `u32::MAX`.
    fn to_amount(self) -> u32;
    /// The unsigned integer of the same width.
    type Unsigned: Integer;
    /// The upper half of the product in twice the width.
    fn mul_hi(self, other: Self) -> Self;
    /// Sum, clamped to the type.
    fn saturating_add(self, other: Self) -> Self;
    /// Difference, clamped to the type.
    fn saturating_sub(self, other: Self) -> Self;
    /// Product, clamped to the type.
    fn saturating_mul(self, other: Self) -> Self;
    /// The distance between both, which an unsigned integer always holds.
    fn abs_diff(self, other: Self) -> Self::Unsigned;
    /// How many bits are 1.
    fn count_ones(self) -> Self;
    /// How many bits above the highest 1 are 0; all of them in 0.
    fn leading_zeros(self) -> Self;
    /// How many bits below the lowest 1 are 0; all of them in 0.
    fn trailing_zeros(self) -> Self;
    /// The bits in the opposite order.
    fn reverse_bits(self) -> Self;
    /// The bits moved up by `amount` modulo the width, those at the top coming in at the bottom.
    fn rotate_left(self, amount: u32) -> Self;
    /// The bits moved down by `amount` modulo the width, those at the bottom coming in at the top.
    fn rotate_right(self, amount: u32) -> Self;
    /// As an amount to rotate by: the value modulo 64.
    fn to_rotation(self) -> u32;
}

macro_rules! logical {
    ($($type:ty)*) => { $(
        impl Logical for $type {
            #[inline_on_device]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline_on_device]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline_on_device]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline_on_device]
            fn not(self) -> Self {
                !self
            }
        }
    )* };
}
logical!(bool i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! integers {
    ($($type:ident, $unsigned:ident, $wide:ident, |$value:ident| $abs:expr;)*) => { $(
        impl Number for $type {
            const ONE: Self = 1;
            const ASSOCIATIVE: bool = true;
            type Accumulator = Self;
            #[inline_on_device]
            fn to_accumulator(self) -> Self {
                self
            }
            #[inline_on_device]
            fn from_accumulator(total: Self) -> Self {
                total
            }
            #[inline_on_device]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline_on_device]
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline_on_device]
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline_on_device]
            fn div(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline_on_device]
            fn rem(self, other: Self) -> Self {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
            #[inline_on_device]
            fn floor_div(self, other: Self) -> Self {
                self.divmod(other).0
            }
            #[inline_on_device]
            fn ceil_div(self, other: Self) -> Self {
                let (quotient, rest) = Number::div_rem(self, other);
                let same_side = Comparable::less(rest, 0) == Comparable::less(other, 0);
                if rest != 0 && other != 0 && same_side { quotient.wrapping_add(1) } else { quotient }
            }
            #[inline_on_device]
            fn modulo(self, other: Self) -> Self {
                self.divmod(other).1
            }
            #[inline_on_device]
            fn div_rem(self, other: Self) -> (Self, Self) {
                let quotient = Number::div(self, other);
                (quotient, self.wrapping_sub(quotient.wrapping_mul(other)))
            }
            #[inline_on_device]
            fn divmod(self, other: Self) -> (Self, Self) {
                let (quotient, rest) = Number::div_rem(self, other);
                let opposite = Comparable::less(rest, 0) != Comparable::less(other, 0);
                if rest != 0 && other != 0 && opposite {
                    (quotient.wrapping_sub(1), rest.wrapping_add(other))
                } else {
                    (quotient, rest)
                }
            }
            #[inline_on_device]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline_on_device]
            fn abs(self) -> Self {
                let $value = self;
                $abs
            }
        }
        impl Integer for $type {
            const WIDTH: u32 = $type::BITS;
            const SIGNED: bool = $type::MIN != 0;
            #[inline_on_device]
            fn shl(self, amount: u32) -> Self {
                if amount < $type::BITS { self.wrapping_shl(amount) } else { 0 }
            }
            #[inline_on_device]
            fn shr(self, amount: u32) -> Self {
                let most = $type::BITS - 1;
                if amount > most && !Self::SIGNED { 0 } else { self.wrapping_shr(amount.min(most)) }
            }
            #[inline_on_device]
            fn to_amount(self) -> u32 {
                if $type::BITS == 64 {
                    return convert::saturate_u64_to_u32(self as u64);
                }
                u32::try_from(self).unwrap_or(u32::MAX)
            }
            type Unsigned = $unsigned;
            #[inline_on_device]
            fn mul_hi(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> $type::BITS) as $type
            }
            #[inline_on_device]
            fn saturating_add(self, other: Self) -> Self {
                $type::saturating_add(self, other)
            }
            #[inline_on_device]
            fn saturating_sub(self, other: Self) -> Self {
                $type::saturating_sub(self, other)
            }
            #[inline_on_device]
            fn saturating_mul(self, other: Self) -> Self {
                $type::saturating_mul(self, other)
            }
            #[inline_on_device]
            fn abs_diff(self, other: Self) -> $unsigned {
                $type::abs_diff(self, other)
            }
            #[inline_on_device]
            fn count_ones(self) -> Self {
                $type::count_ones(self) as $type
            }
            #[inline_on_device]
            fn leading_zeros(self) -> Self {
                $type::leading_zeros(self) as $type
            }
            #[inline_on_device]
            fn trailing_zeros(self) -> Self {
                $type::trailing_zeros(self) as $type
            }
            #[inline_on_device]
            fn reverse_bits(self) -> Self {
                $type::reverse_bits(self)
            }
            #[inline_on_device]
            fn rotate_left(self, amount: u32) -> Self {
                $type::rotate_left(self, amount)
            }
            #[inline_on_device]
            fn rotate_right(self, amount: u32) -> Self {
                $type::rotate_right(self, amount)
            }
            #[inline_on_device]
            fn to_rotation(self) -> u32 {
                self as u32 % 64
            }
        }
    )* };
}
integers! {
    i8, u8, i16, |value| value.wrapping_abs();
    i16, u16, i32, |value| {
        let mask = convert::sign_mask_i16(value);
        (value ^ mask).wrapping_sub(mask)
    };
    i32, u32, i64, |value| value.wrapping_abs();
    i64, u64, i128, |value| value.wrapping_abs();
    u8, u8, u16, |value| value;
    u16, u16, u32, |value| value;
    u32, u32, u64, |value| value;
    u64, u64, u128, |value| value;
}

/// `f32` and `f64` compute with their own operators; the others give the machine's functions on their bits.
macro_rules! floats {
    ($($type:ident in $accumulator:ident: $add:expr, $sub:expr, $mul:expr, $div:expr, $rem:expr, $min:expr, $max:expr, $min_nan:expr, $max_nan:expr, $divmod:expr, $one:expr, $sign:expr, |$value:ident| $wide:expr;)*) => { $(
        impl Number for $type {
            const ONE: Self = $one;
            const ASSOCIATIVE: bool = false;
            type Accumulator = $accumulator;
            #[inline_on_device]
            fn to_accumulator(self) -> $accumulator {
                self.cast()
            }
            #[inline_on_device]
            fn from_accumulator(total: $accumulator) -> Self {
                total.cast()
            }
            #[inline_on_device]
            fn add(self, other: Self) -> Self {
                $add(self, other)
            }
            #[inline_on_device]
            fn sub(self, other: Self) -> Self {
                $sub(self, other)
            }
            #[inline_on_device]
            fn mul(self, other: Self) -> Self {
                $mul(self, other)
            }
            #[inline_on_device]
            fn div(self, other: Self) -> Self {
                $div(self, other)
            }
            #[inline_on_device]
            fn rem(self, other: Self) -> Self {
                $rem(self, other)
            }
            #[inline_on_device]
            fn floor_div(self, other: Self) -> Self {
                super::Float::floor(Number::div(self, other))
            }
            #[inline_on_device]
            fn ceil_div(self, other: Self) -> Self {
                super::Float::ceil(Number::div(self, other))
            }
            #[inline_on_device]
            fn modulo(self, other: Self) -> Self {
                self.divmod(other).1
            }
            #[inline_on_device]
            fn div_rem(self, other: Self) -> (Self, Self) {
                $divmod(self, other, false)
            }
            #[inline_on_device]
            fn divmod(self, other: Self) -> (Self, Self) {
                $divmod(self, other, true)
            }
            #[inline_on_device]
            fn neg(self) -> Self {
                $type::from_bits(self.to_bits() ^ $sign)
            }
            #[inline_on_device]
            fn abs(self) -> Self {
                $type::from_bits(self.to_bits() & !$sign)
            }
        }
        impl Comparable for $type {
            const LOWEST: Self = $type::NEG_INFINITY;
            const HIGHEST: Self = $type::INFINITY;
            #[inline_on_device]
            fn minimum(self, other: Self) -> Self {
                $min(self, other)
            }
            #[inline_on_device]
            fn maximum(self, other: Self) -> Self {
                $max(self, other)
            }
            #[inline_on_device]
            fn min_propagate_nan(self, other: Self) -> Self {
                $min_nan(self, other)
            }
            #[inline_on_device]
            fn max_propagate_nan(self, other: Self) -> Self {
                $max_nan(self, other)
            }
            #[inline_on_device]
            fn less(self, other: Self) -> bool {
                let $value = self;
                let left = $wide;
                let $value = other;
                left < $wide
            }
            #[inline_on_device]
            fn less_equal(self, other: Self) -> bool {
                let $value = self;
                let left = $wide;
                let $value = other;
                left <= $wide
            }
            #[inline_on_device]
            fn is_nan(self) -> bool {
                self.to_bits() & !$sign > $type::INFINITY.to_bits()
            }
        }
    )* };
}

/// A function on the bits of two values.
macro_rules! on_bits {
    ($type:ident, $function:ident) => {
        |a: $type, b: $type| $type::from_bits(machine::$function(a.to_bits(), b.to_bits()))
    };
}

/// A function computed in `f32` and rounded once.
macro_rules! in_f32 {
    ($type:ident, |$a:ident, $b:ident| $result:expr) => {
        |a: $type, b: $type| {
            let ($a, $b): (f32, f32) = (a.cast(), b.cast());
            let result: f32 = $result;
            Cast::<$type>::cast(result)
        }
    };
}

/// Quotient and remainder computed in `f32` and rounded once.
macro_rules! divmod_in_f32 {
    ($type:ident) => {
        |a: $type, b: $type, floored: bool| {
            let (quotient, rest) = remainder::single_divmod(a.cast(), b.cast(), floored);
            (Cast::<$type>::cast(quotient), Cast::<$type>::cast(rest))
        }
    };
}

floats! {
    f32 in f32: |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b, remainder::single,
        machine::min_f32, machine::max_f32, machine::min_nan_f32, machine::max_nan_f32, remainder::single_divmod, 1.0, 0x8000_0000, |value| value;
    f64 in f64: |a, b| a + b, |a, b| a - b, |a, b| a * b, |a, b| a / b, remainder::double,
        machine::min_f64, machine::max_f64, machine::min_nan_f64, machine::max_nan_f64, remainder::double_divmod, 1.0, 0x8000_0000_0000_0000, |value| value;
    f16 in f32: on_bits!(f16, add_f16), on_bits!(f16, subtract_f16), on_bits!(f16, multiply_f16), in_f32!(f16, |a, b| a / b),
        in_f32!(f16, |a, b| remainder::single(a, b)), on_bits!(f16, min_f16), on_bits!(f16, max_f16),
        on_bits!(f16, min_nan_f16), on_bits!(f16, max_nan_f16), divmod_in_f32!(f16), f16::ONE, 0x8000, |value| Cast::<f32>::cast(value);
    bf16 in f32: on_bits!(bf16, add_bf16), on_bits!(bf16, subtract_bf16), on_bits!(bf16, multiply_bf16), in_f32!(bf16, |a, b| a / b),
        in_f32!(bf16, |a, b| remainder::single(a, b)), on_bits!(bf16, min_bf16), on_bits!(bf16, max_bf16),
        on_bits!(bf16, min_nan_bf16), on_bits!(bf16, max_nan_bf16), divmod_in_f32!(bf16), bf16::ONE, 0x8000, |value| Cast::<f32>::cast(value);
}
