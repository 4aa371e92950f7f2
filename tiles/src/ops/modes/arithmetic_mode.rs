//! How sums, differences and products are rounded.

use super::NearestEven;
use crate::element::{Number, bf16, f16};

/// A mode of sums, differences and products of elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "sums, differences and products of `{T}` have no mode `{Self}`",
    label = "not a mode of this operation on `{T}`",
    note = "floats have `NearestEven`, `TowardZero`, `TowardNegative` and `TowardPositive`",
    note = "f32 has also `FlushToZero`, alone or in a tuple with one of these; integers have no modes"
)]
pub trait ArithmeticMode<T>: Copy + Send + Sync + 'static {
    /// `left + right` in this mode.
    fn add(left: T, right: T) -> T;
    /// `left - right` in this mode.
    fn sub(left: T, right: T) -> T;
    /// `left * right` in this mode.
    fn mul(left: T, right: T) -> T;
}

/// No mode: as the operators do.
impl<T: Number> ArithmeticMode<T> for () {
    #[inline(always)]
    fn add(left: T, right: T) -> T {
        Number::add(left, right)
    }
    #[inline(always)]
    fn sub(left: T, right: T) -> T {
        Number::sub(left, right)
    }
    #[inline(always)]
    fn mul(left: T, right: T) -> T {
        Number::mul(left, right)
    }
}

/// The modes of one element type that are the operators' own.
macro_rules! nearest_even {
    ($($type:ident)*) => { $(
        impl ArithmeticMode<$type> for NearestEven {
            #[inline(always)]
            fn add(left: $type, right: $type) -> $type {
                Number::add(left, right)
            }
            #[inline(always)]
            fn sub(left: $type, right: $type) -> $type {
                Number::sub(left, right)
            }
            #[inline(always)]
            fn mul(left: $type, right: $type) -> $type {
                Number::mul(left, right)
            }
        }
    )* };
}
nearest_even!(f16 bf16 f32 f64);
