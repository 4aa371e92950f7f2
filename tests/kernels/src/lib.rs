//! Kernels that exist to be tested: one for each family of tile operations, for every element type.
//!
//! A kernel runs many operations on the same operands and stores the result of operation `k` in row `k` of its
//! output, so that few kernels cover all operations. `tests/operations/` launches each one on the GPU and on the CPU
//! and compares with plain Rust. Block sizes and piece lengths differ between kernels on purpose. `min_blocks = 1` keeps the
//! assembler from spilling a few registers of the paths that report failures, for an occupancy that no test needs.
//!
//! Tensors whose access is not what a kernel is about are aligned and have rows of whole vectors: then a load or store
//! has one path, and the kernels compile quickly. All other paths are the business of [`views`].

#![no_std]

pub mod ahead;
pub mod arguments;
pub mod arithmetic;
pub mod atomic_updates;
pub mod atomics;
pub mod casts;
pub mod compare;
pub mod debug;
pub mod elements;
pub mod execution;
pub mod four_bits;
pub mod gather;
pub mod grids;
pub mod integers;
pub mod math;
pub mod matrix;
pub mod minifloats;
pub mod modes;
pub mod movement;
pub mod ownership;
pub mod promotions;
pub mod random;
pub mod reductions;
pub mod repacking;
pub mod scans;
pub mod shapes;
pub mod simt;
pub mod sorts;
pub mod spans;
pub mod views;
pub mod windows;

use cuda_tiles::prelude::*;

/// Lengths of operands are multiples of this.
pub const MULTIPLE: usize = 16;

/// A read-only tensor of extents `E` whose vectors are aligned.
pub type Input<T, E> = Span<T, E, Right, Aligned<16>>;
/// A writable tensor of extents `E` whose vectors are aligned.
pub type Output<T, E> = SpanMut<T, E, Right, Aligned<16>>;
/// An operand: a vector whose length is a multiple of [`MULTIPLE`].
pub type Operand<T> = Input<T, (Mult<u32, MULTIPLE>,)>;
/// One result for each element of an operand.
pub type Row<T> = Output<T, (Mult<u32, MULTIPLE>,)>;
/// The results of `K` operations.
pub type Rows<T, const K: usize> = Output<T, (D<K>, Mult<u32, MULTIPLE>)>;
