//! f64.

mod exponential;
mod logarithm;
mod reduction;
mod trigonometric;

pub use exponential::{exp, exp2, tanh};
pub use logarithm::{log, log2};
pub use trigonometric::{cos, sin, tan};
