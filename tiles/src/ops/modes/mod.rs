//! Modes of operations, as values without size.
//!
//! An operation that has modes has a form ending in `_with`, whose last argument is one mode or a tuple of them, in any
//! order. `()` is no mode: the operation as without `_with`. What an operation cannot do on an element type does not
//! compile.
//!
//! | operations | modes | element types |
//! |---|---|---|
//! | sums, differences, products, quotients, `fma`, `sqrt` | [`NearestEven`] (default), [`TowardZero`], [`TowardNegative`], [`TowardPositive`] | floats |
//! | the same | [`FlushToZero`], alone or with one of these | `f32` |
//! | quotients | [`Approximate`], [`Full`], alone or with `FlushToZero` | `f32` |
//! | `sqrt` | [`Approximate`], alone or with `FlushToZero` | `f32` |
//! | `exp`, `exp2`, `log`, `log2`, `sin`, `cos`, `tanh`, `rsqrt` | [`Full`] (default) | floats |
//! | the same | [`Approximate`] | those with [`ApproximateFloat`](crate::element::ApproximateFloat) |
//! | `exp2`, `rsqrt` | [`FlushToZero`] | `f32` |
//! | minimum, maximum | [`SuppressNan`] (default), [`PropagateNan`] | integers, floats |
//! | the same | [`FlushToZero`], alone or with one of these | `f32` |
//! | arg-reductions | [`SuppressNan`] (default), [`PropagateNan`] | integers, floats |
//!
//! A mode is a type, so that a function can leave it to its caller:
//!
//! ```
//! use cuda_tiles::ops::modes::{ArithmeticMode, DivisionMode};
//! use cuda_tiles::prelude::*;
//!
//! /// Bounds of the mean of two numbers, by rounding down or up.
//! fn mean<S: Shape, L: Layout, M: ArithmeticMode<f32> + DivisionMode<f32>>(
//!     sum: Tile<f32, S, L>,
//!     more: f32,
//!     mode: M,
//! ) -> Tile<f32, S, L> {
//!     sum.add_with(more, mode).div_with(2.0, mode)
//! }
//!
//! cuda_tiles::cpu::block(|cx| {
//!     let t = cx.full(shape![4], 0.1f32);
//!     let (low, high) = (mean(t, 0.2, TowardNegative), mean(t, 0.2, TowardPositive));
//!     assert!(low.at([0]) < high.at([0]));
//!     assert_eq!(mean(t, 0.1, (TowardZero, FlushToZero)).at([0]), 0.1);
//! });
//! ```
//!
//! Flushing means that subnormal operands and results become zeros of their sign. A fused multiply-add and the rounding
//! of `f16` and `bf16` round once, whatever the mode.

use crate::sealed::sealed;

mod arithmetic_mode;
mod function_mode;
mod nan;
mod precision;

pub use crate::element::rounding::{NearestEven, TiesAway, TowardNegative, TowardPositive, TowardZero};
pub use arithmetic_mode::{ArithmeticMode, DivisionMode, FusedMode, RootMode};
pub(crate) use arithmetic_mode::{addition, multiplication};
pub use function_mode::{FlushMode, FunctionMode};
pub use nan::{NanChoice, NanMode, PropagateNan, SuppressNan};
pub(crate) use nan::{larger, smaller};
pub use precision::{Approximate, FlushToZero, Full};

sealed! {
    [] Approximate;
    [] Full;
    [] FlushToZero;
    [] SuppressNan;
    [] PropagateNan;
}
