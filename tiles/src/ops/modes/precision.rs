//! Properties of single instructions but for their rounding, as values without size.

/// By the hardware's approximation: fast, with the error that the operation states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Approximate;

/// Within a small stated error over the full range, but not correctly rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Full;

/// Subnormal operands and results become zeros of their sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("subnormals"))]
pub struct FlushToZero;
