//! Random kernels, and what their results are: a second oracle for cuda-tiles.
//!
//! [`generate`] makes a well-typed [`Program`](program::Program) out of a seed, [`print`](mod@print) writes it as a `#[kernel]`,
//! [`interpret`] computes its results one element at a time, and [`shrink`] makes a program that shows a difference smaller.
//! This crate does not depend on cuda-tiles: it is written from `docs/book/src/semantics.md` and the documentation of the operations.
//!
//! What a float may be is a [`Scalar`](scalar::Scalar): the exact bits where the documentation promises them, else all numbers
//! between two bounds, which follow from the stated errors of the operations on the way.

pub mod check;
pub mod data;
pub mod element;
pub mod functions;
pub mod generate;
pub mod interpret;
pub mod number;
pub mod operations;
pub mod philox;
pub mod print;
pub mod program;
pub mod random;
pub mod reduce;
pub mod scalar;
pub mod shrink;
