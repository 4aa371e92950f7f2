//! What minimum and maximum do with a NaN.

use super::FlushToZero;
use crate::arch::rounding as machine;
use crate::element::{Comparable, Element};
use crate::sealed::Sealed;

/// What minimum and maximum of elements of type `T` do with a NaN, and with subnormal numbers.
#[diagnostic::on_unimplemented(
    message = "minimum and maximum of `{T}` have no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "modes are `SuppressNan` and `PropagateNan`, and for f32 also `FlushToZero`, alone or in a tuple with one of them"
)]
pub trait NanMode<T: Element>: Sealed + Copy + Send + Sync + 'static {
    /// The smaller of two numbers in this mode.
    fn minimum(left: T, right: T) -> T;
    /// The larger of two numbers in this mode.
    fn maximum(left: T, right: T) -> T;
}

/// The smaller of two elements in a mode.
#[inline_on_device]
pub(crate) fn smaller<T: Element, M: NanMode<T>>(_mode: M) -> impl Fn(T, T) -> T {
    M::minimum
}

/// The larger of two elements in a mode.
#[inline_on_device]
pub(crate) fn larger<T: Element, M: NanMode<T>>(_mode: M) -> impl Fn(T, T) -> T {
    M::maximum
}

/// Whether a NaN loses or wins: the modes of what only compares elements, such as arg-reductions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what to do with a NaN",
    label = "expected `SuppressNan` or `PropagateNan`"
)]
pub trait NanChoice: Sealed + Copy + Send + Sync + 'static {
    /// Whether a NaN is preferred to every number.
    const PROPAGATES: bool;
}

/// A NaN loses against any number (IEEE 754-2019 `minimumNumber`, `maximumNumber`): the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuppressNan;

/// A NaN wins against any number (IEEE 754-2019 `minimum`, `maximum`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PropagateNan;

impl NanChoice for SuppressNan {
    const PROPAGATES: bool = false;
}

impl NanChoice for PropagateNan {
    const PROPAGATES: bool = true;
}

impl<T: Comparable> NanMode<T> for SuppressNan {
    #[inline_on_device]
    fn minimum(left: T, right: T) -> T {
        Comparable::minimum(left, right)
    }
    #[inline_on_device]
    fn maximum(left: T, right: T) -> T {
        Comparable::maximum(left, right)
    }
}

/// No mode: a NaN loses.
impl<T: Comparable> NanMode<T> for () {
    #[inline_on_device]
    fn minimum(left: T, right: T) -> T {
        Comparable::minimum(left, right)
    }
    #[inline_on_device]
    fn maximum(left: T, right: T) -> T {
        Comparable::maximum(left, right)
    }
}

impl<T: Comparable> NanMode<T> for PropagateNan {
    #[inline_on_device]
    fn minimum(left: T, right: T) -> T {
        left.min_propagate_nan(right)
    }
    #[inline_on_device]
    fn maximum(left: T, right: T) -> T {
        left.max_propagate_nan(right)
    }
}

/// The modes that flush: f32 only.
macro_rules! flushing {
    ($($mode:ty: $minimum:ident $maximum:ident;)*) => { $(
        impl NanMode<f32> for $mode {
            #[inline_on_device]
            fn minimum(left: f32, right: f32) -> f32 {
                machine::$minimum(left, right)
            }
            #[inline_on_device]
            fn maximum(left: f32, right: f32) -> f32 {
                machine::$maximum(left, right)
            }
        }
    )* };
}
flushing! {
    FlushToZero: min_flush_f32 max_flush_f32;
    (SuppressNan, FlushToZero): min_flush_f32 max_flush_f32;
    (FlushToZero, SuppressNan): min_flush_f32 max_flush_f32;
    (PropagateNan, FlushToZero): min_nan_flush_f32 max_nan_flush_f32;
    (FlushToZero, PropagateNan): min_nan_flush_f32 max_nan_flush_f32;
}
