//! Operations on the rows of a matrix, of any length, with their gradients: softmax, layer and RMS normalisation, cross-entropy.
//!
//! Elements are `f32`, `f16` or `bf16`, and all arithmetic is of `f32`. Results are the same in every launch: no sum depends on the order
//! of blocks.
//!
//! The functions, of the feature `host`, check their operands and choose among the [`kernels`].

pub mod kernels;

#[cfg(feature = "host")]
mod host;

#[cfg(feature = "host")]
pub use host::*;
