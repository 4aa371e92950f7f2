//! How results that do not fit are rounded, as values without size. They are modes of operations: `ops::modes` has their names.

use crate::sealed::sealed;

/// To the nearest value, ties to the even one: the default of everything that IEEE 754 rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("rounding_mode"))]
pub struct NearestEven;

/// Toward zero: what does not fit is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TowardZero;

/// Toward negative infinity: down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TowardNegative;

/// Toward positive infinity: up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TowardPositive;

/// To the nearest value, ties away from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TiesAway;

sealed! {
    [] NearestEven;
    [] TowardZero;
    [] TowardNegative;
    [] TowardPositive;
    [] TiesAway;
}
