//! What a masked load puts in place of elements that lie outside the tensor.

use crate::element::{Element, Float};

/// A padding value that is legal for elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a legal padding for elements of type `{T}`",
    label = "not for `{T}`",
    note = "integers and bool can be padded with `Zero` only; NegativeZero, PositiveInfinity, NegativeInfinity and Nan are for floats"
)]
pub trait Padding<T>: Copy {
    /// The value.
    const VALUE: T;
}

macro_rules! paddings {
    ($($(#[$attribute:meta])* $name:ident: $bound:ident $value:ident;)*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
        #[diagnostic::do_not_recommend]
        impl<T: $bound> Padding<T> for $name {
            const VALUE: T = T::$value;
        }
    )* };
}
paddings! {
    /// Pads with zero (`false`): every element type.
    Zero: Element ZERO;
    /// Pads with -0: floats.
    NegativeZero: Float NEGATIVE_ZERO;
    /// Pads with infinity, which loses every minimum: floats.
    PositiveInfinity: Float INFINITY;
    /// Pads with negative infinity, which loses every maximum: floats.
    NegativeInfinity: Float NEGATIVE_INFINITY;
    /// Pads with NaN: floats.
    Nan: Float NAN;
}
