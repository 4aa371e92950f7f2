//! Algorithms that are written once for f32 and f64 and that both back ends run: sums, products, quotients, roots and
//! fused multiply-adds, each rounded once, so that a result has the same bits on the CPU and on the device.
//!
//! No tables, no arrays and no loops; where a case needs another formula the results are selected.

mod error;
mod exponential;
mod inverse;
mod logarithm;
mod power;
mod real;
mod series;

pub use error::{erf, erfc, gelu};
pub use exponential::{cosh, exp10, expm1, gelu_tanh, sigmoid, silu, sinh, softplus};
pub use inverse::{acos, asin, atan, atan2};
pub use logarithm::{acosh, asinh, atanh, log1p, log10};
pub use power::{cbrt, hypot, pow, powi};
