//! Ready-made kernels on cuda-tiles, compiled to PTX by the builder and for the CPU by cargo.

#![no_std]
// The macros of `gemm/table.rs` take the entries of the table one by one.
#![recursion_limit = "512"]

#[cfg(feature = "host")]
extern crate std;

#[cfg(feature = "attention")]
pub mod attention;
pub mod gather;
#[cfg(feature = "_gemm")]
pub mod gemm;
pub mod image;
pub mod lessons;
pub mod normalisation;
pub mod reductions;
#[cfg(feature = "rows")]
pub mod rows;
pub mod scan;
pub mod softmax;
pub mod transpose;
pub mod vector;
