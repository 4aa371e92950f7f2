//! Modes of operations, as values without size.
//!
//! An operation that has modes has a form ending in `_with`, whose last argument is one mode or a tuple of them, in any
//! order. `()` is no mode: the operation as without `_with`. What an operation cannot do on an element type does not
//! compile.
//!
//! | operations | modes | element types |
//! |---|---|---|
//! | `add`, `sub`, `mul`, `fma`, sums, products | [`NearestEven`] (default), [`TowardZero`], [`TowardNegative`], [`TowardPositive`] | floats |
//! | the same | [`FlushToZero`], also with one of these | `f32` |
//! | minimum, maximum | [`SuppressNan`] (default), [`PropagateNan`] | integers, floats |
//! | the same | [`FlushToZero`], also with one of these | `f32` |

mod arithmetic_mode;
mod function_mode;
mod nan;
mod rounding;

pub use arithmetic_mode::{ArithmeticMode, DivisionMode, FusedMode, RootMode};
pub use function_mode::{FlushMode, FunctionMode};
pub use nan::{NanChoice, NanMode, PropagateNan, SuppressNan};
pub use rounding::{
    Approximate, FlushToZero, Full, NearestEven, TiesAway, TowardNegative, TowardPositive, TowardZero,
};
