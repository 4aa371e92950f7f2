//! What a masked load puts in place of elements that lie outside the tensor.
//!
//! | padding | element types |
//! |---|---|
//! | [`Zero`] | all but `f8e8m0`, which has no zero |
//! | [`NegativeZero`] | floats but `f8e8m0`, `f8ue5m3`, which have no sign, and `f4e2m1` |
//! | [`PositiveInfinity`], [`NegativeInfinity`] | `f16`, `bf16`, `f32`, `f64`, `tf32`, `f8e5m2` |
//! | [`Nan`] | floats but `f4e2m1` |

use crate::element::{Element, Float, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, tf32};
use crate::sealed::{Sealed, sealed};

/// A padding value that is legal for elements of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a legal padding for elements of type `{T}`",
    label = "not for `{T}`",
    note = "integers and bool can be padded with `Zero` only; NegativeZero, PositiveInfinity, NegativeInfinity and Nan are for floats that have them"
)]
#[doc(alias("view_padding", "padding_mode", "padding_option"))]
pub trait Padding<T: Element>: Sealed + Copy {
    /// The value.
    const VALUE: T;
}

macro_rules! paddings {
    ($($(#[$attribute:meta])* $name:ident: $value:ident of Float $($type:ident)*;)*) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;
        #[diagnostic::do_not_recommend]
        impl<T: Float> Padding<T> for $name {
            const VALUE: T = T::$value;
        }
        $(
            #[diagnostic::do_not_recommend]
            impl Padding<$type> for $name {
                const VALUE: $type = $type::$value;
            }
        )*
    )* };
}
paddings! {
    /// Pads with -0: floats that have a sign.
    NegativeZero: NEGATIVE_ZERO of Float tf32 f8e4m3 f8e5m2;
    /// Pads with infinity, which loses every minimum: floats that have it.
    PositiveInfinity: INFINITY of Float tf32 f8e5m2;
    /// Pads with negative infinity, which loses every maximum: floats that have it.
    NegativeInfinity: NEGATIVE_INFINITY of Float tf32 f8e5m2;
    /// Pads with NaN: floats that have it.
    Nan: NAN of Float tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3;
}

/// Pads with zero (`false`): every element type but `f8e8m0`, which has no zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zero;

#[diagnostic::do_not_recommend]
impl<T: Element> Padding<T> for Zero {
    const VALUE: T = {
        assert!(
            T::HAS_ZERO,
            "`Zero` is not a legal padding for elements of type `f8e8m0`, which has no zero"
        );
        T::ZERO
    };
}

sealed! {
    [] NegativeZero;
    [] PositiveInfinity;
    [] NegativeInfinity;
    [] Nan;
    [] Zero;
}
