//! How results that do not fit are rounded, and other properties of single instructions, as values without size.

/// To the nearest value, ties to the even one: the default of everything that IEEE 754 rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// By the hardware's approximation: fast, with the error that the operation states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approximate;

/// Within a small stated error over the full range, but not correctly rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Full;

/// Subnormal operands and results become zeros of their sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushToZero;
