//! The implicit common type of two element types, as a type-level table.
//!
//! Integers of one signedness go to the wider one; an integer and a float to the float; two floats to the
//! wider one; `bool` to the other. A signed and an unsigned integer, and `f16` and `bf16`, have no common type:
//! convert one of them. The floats without arithmetic have a common type with themselves only.

use super::{Cast, Element, bf16, f16};
use crate::sealed::Sealed;

/// The common type of `Self` and `U`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{U}` have no common element type",
    label = "no implicit conversion between `{Self}` and `{U}`",
    note = "convert one side first: `.cast::<...>()`"
)]
pub trait Promote<U: Element>: Element + Cast<Self::Output> {
    /// The common type.
    type Output: Element;
    /// `other` as the common type.
    fn promote(other: U) -> Self::Output;
}

/// The common type of a stored element and of the tensor's `Wanted`, where it is `Wanted` itself: nothing is lost in kind.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` cannot be stored as `{Wanted}` without an explicit conversion",
    label = "the tensor has elements of type `{Wanted}`",
    note = "convert first: `.cast::<{Wanted}>()`"
)]
pub trait FitsElement<Wanted: Element>: Sealed {}

impl<T: Element> FitsElement<T> for T {}

/// Element types whose values a tensor of `T` stores: the common type of both is `T`.
#[diagnostic::on_unimplemented(
    message = "elements of type `{Self}` cannot be stored as `{T}` without an explicit conversion",
    label = "the tensor has elements of type `{T}`",
    note = "convert first: `.cast::<{T}>()`"
)]
pub trait StoredAs<T: Element>: Promote<T, Output: FitsElement<T>> + Cast<T> {}

impl<T: Element, U: Promote<T, Output: FitsElement<T>> + Cast<T>> StoredAs<T> for U {}

/// Every element has its own type in common with itself.
impl<T: Element> Promote<T> for T {
    type Output = T;
    #[inline_on_device]
    fn promote(other: T) -> T {
        other
    }
}

macro_rules! promotions {
    ($($left:ident: $($right:ident $output:ident),*;)*) => { $($(
        impl Promote<$right> for $left {
            type Output = $output;
            #[inline_on_device]
            fn promote(other: $right) -> $output {
                Cast::<$output>::cast(other)
            }
        }
    )*)* };
}
promotions! {
    bool: i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i8: bool i8, i16 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i16: bool i16, i8 i16, i32 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i32: bool i32, i8 i32, i16 i32, i64 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    i64: bool i64, i8 i64, i16 i64, i32 i64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u8: bool u8, u16 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u16: bool u16, u8 u16, u32 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u32: bool u32, u8 u32, u16 u32, u64 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    u64: bool u64, u8 u64, u16 u64, u32 u64, f16 f16, bf16 bf16, f32 f32, f64 f64;
    f16: bool f16, i8 f16, i16 f16, i32 f16, i64 f16, u8 f16, u16 f16, u32 f16, u64 f16, f32 f32, f64 f64;
    bf16: bool bf16, i8 bf16, i16 bf16, i32 bf16, i64 bf16, u8 bf16, u16 bf16, u32 bf16, u64 bf16, f32 f32, f64 f64;
    f32: bool f32, i8 f32, i16 f32, i32 f32, i64 f32, u8 f32, u16 f32, u32 f32, u64 f32, f16 f32, bf16 f32, f64 f64;
    f64: bool f64, i8 f64, i16 f64, i32 f64, i64 f64, u8 f64, u16 f64, u32 f64, u64 f64, f16 f64, bf16 f64, f32 f64;
}

/// The common type of two integers of any signedness by the rules of CUDA Tile C++: the signed type if it is the wider
/// one, so that it holds all values of both, else the unsigned one, in which negative values wrap.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{U}` have no common integer type",
    label = "expected two integer types",
    note = "of other types the operators find the common type by themselves"
)]
pub trait PromoteMixed<U: Cast<Self::Output>>: Element + Cast<Self::Output> {
    /// The common type.
    type Output: Element;
}

macro_rules! mixed_promotions {
    ($($left:ident: $($right:ident $output:ident),*;)*) => { $($(
        impl PromoteMixed<$right> for $left {
            type Output = $output;
        }
    )*)* };
}
mixed_promotions! {
    i8: i8 i8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64;
    i16: i8 i16, i16 i16, i32 i32, i64 i64, u8 i16, u16 u16, u32 u32, u64 u64;
    i32: i8 i32, i16 i32, i32 i32, i64 i64, u8 i32, u16 i32, u32 u32, u64 u64;
    i64: i8 i64, i16 i64, i32 i64, i64 i64, u8 i64, u16 i64, u32 i64, u64 u64;
    u8: i8 u8, i16 i16, i32 i32, i64 i64, u8 u8, u16 u16, u32 u32, u64 u64;
    u16: i8 u16, i16 u16, i32 i32, i64 i64, u8 u16, u16 u16, u32 u32, u64 u64;
    u32: i8 u32, i16 u32, i32 u32, i64 i64, u8 u32, u16 u32, u32 u32, u64 u64;
    u64: i8 u64, i16 u64, i32 u64, i64 u64, u8 u64, u16 u64, u32 u64, u64 u64;
}
