//! Ready-made kernels on cuda-tiles, compiled to PTX by the builder and for the CPU by cargo.

#![no_std]
// The macros of `gemm/table.rs` take the entries of the table one by one.
#![recursion_limit = "1024"]

#[cfg(feature = "host")]
extern crate std;

#[cfg(feature = "attention")]
pub mod attention;
#[cfg(feature = "basics")]
pub mod gather;
#[cfg(feature = "_gemm")]
pub mod gemm;
#[cfg(feature = "basics")]
pub mod image;
#[cfg(feature = "basics")]
pub mod lessons;
#[cfg(feature = "basics")]
pub mod normalisation;
#[cfg(feature = "basics")]
pub mod reductions;
#[cfg(feature = "rows")]
pub mod rows;
#[cfg(feature = "basics")]
pub mod scan;
#[cfg(feature = "basics")]
pub mod softmax;
#[cfg(feature = "basics")]
pub mod transpose;
#[cfg(feature = "basics")]
pub mod vector;
