//! Which way a sort goes: values without size.

use crate::element::{Logical, Ordered};
use crate::sealed::{Sealed, sealed};

/// The order of a sort: [`Ascending`] or [`Descending`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the order of a sort",
    label = "expected `Ascending` or `Descending`"
)]
pub trait SortOrder: Sealed + Copy + Send + Sync + 'static {
    /// A number that ascends as elements do in this order.
    #[doc(hidden)]
    fn key<T: Ordered>(value: T) -> T::Key;
    /// The element of such a number.
    #[doc(hidden)]
    fn value<T: Ordered>(key: T::Key) -> T;
}

/// The smallest first; NaN last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ascending;

/// The largest first; NaN before all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Descending;

impl SortOrder for Ascending {
    #[inline_on_device]
    fn key<T: Ordered>(value: T) -> T::Key {
        value.to_key()
    }
    #[inline_on_device]
    fn value<T: Ordered>(key: T::Key) -> T {
        T::from_key(key)
    }
}

impl SortOrder for Descending {
    #[inline_on_device]
    fn key<T: Ordered>(value: T) -> T::Key {
        Logical::not(value.to_key())
    }
    #[inline_on_device]
    fn value<T: Ordered>(key: T::Key) -> T {
        T::from_key(Logical::not(key))
    }
}

sealed! {
    [] Ascending;
    [] Descending;
}
