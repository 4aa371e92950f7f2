//! What a scan takes in, and from which end: values without size.

use crate::sealed::{Sealed, sealed};

/// The form of a scan: one of [`Inclusive`] (default) and [`Exclusive`], one of [`Forward`] (default) and [`Backward`], or
/// a pair of both kinds in any order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form of a scan",
    label = "not a form of a scan",
    note = "forms are `Inclusive` or `Exclusive`, `Forward` or `Backward`, and pairs such as `(Exclusive, Backward)`"
)]
pub trait ScanForm: Sealed + Copy + Send + Sync + 'static {
    /// Whether an element leaves itself out.
    const EXCLUSIVE: bool;
    /// Whether the last element comes first.
    const BACKWARD: bool;
}

/// Each result takes in its own element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inclusive;

/// Each result takes in the elements before its own; the first is the identity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exclusive;

/// From the first element on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forward;

/// From the last element on: as a forward scan of the flipped tile, flipped back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("scan_backward", "reverse"))]
pub struct Backward;

macro_rules! forms {
    ($($form:ty: $exclusive:literal $backward:literal;)*) => { $(
        impl ScanForm for $form {
            const EXCLUSIVE: bool = $exclusive;
            const BACKWARD: bool = $backward;
        }
    )* };
}
forms! {
    (): false false;
    Inclusive: false false;
    Exclusive: true false;
    Forward: false false;
    Backward: false true;
    (Inclusive, Forward): false false;
    (Inclusive, Backward): false true;
    (Exclusive, Forward): true false;
    (Exclusive, Backward): true true;
    (Forward, Inclusive): false false;
    (Backward, Inclusive): false true;
    (Forward, Exclusive): true false;
    (Backward, Exclusive): true true;
}

sealed! {
    [] Inclusive;
    [] Exclusive;
    [] Forward;
    [] Backward;
}
