//! Modes of operations, as values without size.

use crate::element::Number;

/// What minimum and maximum do with a NaN.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a NaN mode",
    label = "expected `SuppressNan` or `PropagateNan`"
)]
pub trait NanMode: Copy + Send + Sync {
    /// The smaller of two numbers in this mode.
    fn minimum<T: Number>(left: T, right: T) -> T;
    /// The larger of two numbers in this mode.
    fn maximum<T: Number>(left: T, right: T) -> T;
    /// Whether an arg-reduction prefers a NaN to every number.
    const PROPAGATES: bool;
}

/// A NaN loses against any number (IEEE 754-2019 `minimumNumber`, `maximumNumber`): the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct SuppressNan;

/// A NaN wins against any number (IEEE 754-2019 `minimum`, `maximum`).
#[derive(Clone, Copy, Debug, Default)]
pub struct PropagateNan;

impl NanMode for SuppressNan {
    #[inline(always)]
    fn minimum<T: Number>(left: T, right: T) -> T {
        Number::minimum(left, right)
    }
    #[inline(always)]
    fn maximum<T: Number>(left: T, right: T) -> T {
        Number::maximum(left, right)
    }
    const PROPAGATES: bool = false;
}

impl NanMode for PropagateNan {
    #[inline(always)]
    fn minimum<T: Number>(left: T, right: T) -> T {
        left.min_propagate_nan(right)
    }
    #[inline(always)]
    fn maximum<T: Number>(left: T, right: T) -> T {
        left.max_propagate_nan(right)
    }
    const PROPAGATES: bool = true;
}
