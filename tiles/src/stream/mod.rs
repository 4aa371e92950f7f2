//! Tiles that stream through shared memory, ahead of where they are used.
//!
//! A kernel that computes on tensor cores reads its operands many times over, in tiles that a block shares: it takes them as
//! [`TileSource`]s, and writes its results through [`TileSink`]s. The stages that hold tiles meanwhile are arguments marked
//! `#[shared]`: [memory of the block](SharedMemory), for which the launch asks the GPU. A kernel whose first argument is
//! [`Split`] has threads besides its own that do nothing but copy.

pub mod matrix;
pub mod shared;
pub mod split;

pub use matrix::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TileSink, TileSource};
pub use shared::SharedMemory;
pub use split::Split;
