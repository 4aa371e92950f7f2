//! Conversions between floats in a given rounding mode.

use super::{Cast, exact_or_odd};
use crate::arch::float::{f16_to_f32, f64_to_f32_toward_zero};
use crate::arch::{convert, minifloat};
use crate::element::rounding::{NearestEven, TiesAway, TowardNegative, TowardPositive, TowardZero};
use crate::element::{Element, bf16, f4e2m1, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, tf32};

/// To the nearest value, ties to even, as FP8 that does not saturate: beyond the greatest number it is infinite, or NaN
/// where there is no infinity, as in the arrays of PyTorch and JAX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("saturate_finite"))]
pub struct Unsaturated;

/// Conversion of one float to the float type `U`, rounded by mode `R`.
///
/// | from | to | modes |
/// |---|---|---|
/// | any float | itself, or a type that holds all its numbers | all five, and exact |
/// | `f64` | `f32` | [`NearestEven`], [`TowardZero`], [`TowardNegative`], [`TowardPositive`] |
/// | `f32` | `tf32` | [`NearestEven`], [`TowardZero`], [`TiesAway`] |
/// | `bf16`, `f8e8m0`, `f8ue5m3` | `f16` | all five |
/// | any other float | `f16`, `bf16`, `tf32` | [`NearestEven`], [`TowardZero`] |
/// | any other float | `f8e4m3`, `f8e5m2`, `f8ue5m3`, `f4e2m1` | [`NearestEven`] |
/// | any other float | `f8e4m3`, `f8e5m2`, `f8ue5m3` | [`Unsaturated`] |
/// | any other float | `f8e8m0` | [`TowardZero`], [`TowardPositive`], of the magnitude |
///
/// This is the table of CUDA Tile C++, and the cells that only cuTile Python has. Toward zero what is beyond the range
/// becomes the greatest number, and infinity stays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not convert to `{U}` in this rounding mode",
    label = "no such rounding of this conversion",
    note = "rounding modes are for conversions between floats; which ones each conversion has is a table in the documentation of `CastWith`"
)]
pub trait CastWith<U, R>: Element {
    /// The converted element.
    fn cast_with(self) -> U;

    /// Two at once: packed instructions where the machine has them.
    #[inline_on_device]
    fn cast_pair_with(low: Self, high: Self) -> [U; 2] {
        [low.cast_with(), high.cast_with()]
    }
}

/// A rounding mode of conversions from `T` to `U`: every mode `R` of [`T: CastWith<U, R>`](CastWith).
///
/// The mode is the type that has this trait, so that [`cast_with`](crate::tile::Tile::cast_with) takes any mode, and a call names `U` alone.
pub trait CastMode<T, U> {
    /// The number as a `U`.
    #[doc(hidden)]
    fn cast(&self, value: T) -> U;
    /// Two numbers as `U`s.
    #[doc(hidden)]
    fn cast_pair(&self, low: T, high: T) -> [U; 2];
}

impl<T: CastWith<U, R>, U, R> CastMode<T, U> for R {
    #[inline_on_device]
    fn cast(&self, value: T) -> U {
        value.cast_with()
    }
    #[inline_on_device]
    fn cast_pair(&self, low: T, high: T) -> [U; 2] {
        T::cast_pair_with(low, high)
    }
}

/// Modes that are the conversion without a mode: it is exact, or the mode is that one's own.
macro_rules! as_without {
    ($($mode:ident { $($from:ident to $($to:ident)*;)* })*) => { $($($(
        impl CastWith<$to, $mode> for $from {
            #[inline_on_device]
            fn cast_with(self) -> $to {
                self.cast()
            }
            #[inline_on_device]
            fn cast_pair_with(low: $from, high: $from) -> [$to; 2] {
                Cast::cast_pair(low, high)
            }
        }
    )*)*)* };
}

/// Conversions that are exact, in every mode.
macro_rules! exact {
    ($($from:ident to $($to:ident)*;)*) => { as_without! {
        NearestEven { $($from to $($to)*;)* }
        TowardZero { $($from to $($to)*;)* }
        TowardNegative { $($from to $($to)*;)* }
        TowardPositive { $($from to $($to)*;)* }
        TiesAway { $($from to $($to)*;)* }
    } };
}
exact! {
    f4e2m1 to f4e2m1 f8e4m3 f8e5m2 f16 bf16 tf32 f32 f64;
    f8e4m3 to f8e4m3 f16 bf16 tf32 f32 f64;
    f8e5m2 to f8e5m2 f16 bf16 tf32 f32 f64;
    f8e8m0 to f8e8m0 bf16 tf32 f32 f64;
    f8ue5m3 to f8ue5m3 bf16 tf32 f32 f64;
    f16 to f16 tf32 f32 f64;
    bf16 to bf16 tf32 f32 f64;
    tf32 to tf32 f32 f64;
    f32 to f32 f64;
    f64 to f64;
}
as_without! { NearestEven {
    f64 to f32 tf32 f16 bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f32 to tf32 f16 bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    tf32 to f16 bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f16 to bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    bf16 to f16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f8e4m3 to f8e5m2 f8ue5m3 f4e2m1;
    f8e5m2 to f8e4m3 f8ue5m3 f4e2m1;
    f8e8m0 to f16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1;
    f8ue5m3 to f16 f8e4m3 f8e5m2 f4e2m1;
    f4e2m1 to f8ue5m3;
} }

macro_rules! rounded {
    ($($from:ident to $to:ident $mode:ident: |$value:ident| $result:expr;)*) => { $(
        impl CastWith<$to, $mode> for $from {
            #[inline_on_device]
            fn cast_with(self) -> $to {
                let $value = self;
                $result
            }
        }
    )* };
}

/// Conversions by way of `f32`, to which a function takes the value: they round as those of `f32`.
macro_rules! by_f32 {
    ($($first:ident: [$($from:ident)*] to $to:ident $mode:ident;)*) => { $( rounded! {
        $( $from to $to $mode: |value| CastWith::<$to, $mode>::cast_with($first(value)); )*
    } )* };
}

/// An element that `f32` holds.
#[inline_on_device]
fn widened(value: impl Cast<f32>) -> f32 {
    value.cast()
}

rounded! {
    f64 to f32 TowardZero: |value| f64_to_f32_toward_zero(value);
    f64 to f32 TowardNegative: |value| convert::f64_to_f32_toward_negative(value);
    f64 to f32 TowardPositive: |value| convert::f64_to_f32_toward_positive(value);

    f32 to tf32 TowardZero: |value| tf32::from_bits(minifloat::encode_tf32_toward_zero(value));
    f32 to tf32 TiesAway: |value| tf32::from_bits(minifloat::encode_tf32_ties_away(value));
    f32 to f16 TowardZero: |value| f16::from_bits(convert::f32_to_f16_toward_zero(value));
    f32 to bf16 TowardZero: |value| bf16::from_bits(minifloat::encode_bf16_toward_zero(value));
    f32 to f8e8m0 TowardZero: |value| f8e8m0::from_bits(minifloat::encode_e8m0_down(value));
    f32 to f8e8m0 TowardPositive: |value| f8e8m0::from_bits(minifloat::encode_e8m0_up(value));
}
by_f32! {
    // What is cut off twice is cut off once.
    f64_to_f32_toward_zero: [f64] to tf32 TowardZero;
    f64_to_f32_toward_zero: [f64] to f16 TowardZero;
    f64_to_f32_toward_zero: [f64] to bf16 TowardZero;
    f64_to_f32_toward_zero: [f64] to f8e8m0 TowardZero;
    exact_or_odd: [f64] to f8e8m0 TowardPositive;
    widened: [tf32 bf16 f8e8m0 f8ue5m3] to f16 TowardZero;
    widened: [tf32 f16] to bf16 TowardZero;
    widened: [tf32 f16 bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1] to f8e8m0 TowardZero;
    widened: [tf32 f16 bf16 f8e4m3 f8e5m2 f8ue5m3 f4e2m1] to f8e8m0 TowardPositive;
}

rounded! {
    f32 to f8e4m3 Unsaturated: |value| f8e4m3::from_bits(minifloat::E4M3.encode_unsaturated(value));
    f32 to f8e5m2 Unsaturated: |value| f8e5m2::from_bits(minifloat::E5M2.encode_unsaturated(value));
    f32 to f8ue5m3 Unsaturated: |value| f8ue5m3::from_bits(minifloat::UE5M3.encode_unsaturated(value));
}
by_f32! {
    exact_or_odd: [f64] to f8e4m3 Unsaturated;
    exact_or_odd: [f64] to f8e5m2 Unsaturated;
    exact_or_odd: [f64] to f8ue5m3 Unsaturated;
    widened: [tf32 f16 bf16 f8e5m2 f8e8m0 f8ue5m3] to f8e4m3 Unsaturated;
    widened: [tf32 f16 bf16 f8e4m3 f8e8m0 f8ue5m3] to f8e5m2 Unsaturated;
    widened: [tf32 f16 bf16 f8e4m3 f8e5m2 f8e8m0 f4e2m1] to f8ue5m3 Unsaturated;
}

/// The `f16` next to `value` on the side of zero, or, if `value` is none and `away` says so of its distances to both, the
/// one on the other side.
#[inline_on_device]
fn half_away_if(value: f32, away: impl Fn(f32, f32) -> bool) -> f16 {
    let near = convert::f32_to_f16_toward_zero(value);
    let exact = f16_to_f32(near);
    // Beyond the greatest number the next one would be 2^16.
    let next = if near & 0x7fff == 0x7bff { f32::copysign(65536.0, value) } else { f16_to_f32(near + 1) };
    let inexact = exact != value && !value.is_nan();
    f16::from_bits(near + u16::from(inexact && away((value - exact).abs(), (next - value).abs())))
}

macro_rules! directed_halves {
    ($($from:ident)*) => { rounded! { $(
        $from to f16 TowardNegative: |value| {
            let value: f32 = value.cast();
            half_away_if(value, |_, _| value < 0.0)
        };
        $from to f16 TowardPositive: |value| {
            let value: f32 = value.cast();
            half_away_if(value, |_, _| value > 0.0)
        };
        $from to f16 TiesAway: |value| half_away_if(value.cast(), |to_near, to_next| to_near >= to_next);
    )* } };
}
directed_halves!(bf16 f8e8m0 f8ue5m3);
