//! f64.
//!
//! The logarithms are the `libm` crate's: of all its functions these two compile to plain arithmetic for the
//! device.

mod exponential;
mod reduction;
mod trigonometric;

pub use exponential::{exp, exp2, tanh};
pub use libm::{log, log2};
pub use trigonometric::{cos, sin, tan};
