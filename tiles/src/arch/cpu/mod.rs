//! The CPU: a block is one thread, which holds whole tiles.
//!
//! Every function means what its namesake for the GPU means for a block of one thread: there is nobody to
//! wait for or to exchange with.

pub mod atomic;
pub mod barriers;
pub mod bulk;
pub mod cluster;
pub mod convert;
pub mod execution;
pub mod float;
pub mod global;
pub mod grid;
pub mod lanes;
pub mod matrix;
pub mod messages;
pub mod order;
pub mod partitions;
pub mod rounding;
pub mod running;
pub mod scoped;
pub mod shared;
pub mod spaces;
pub mod team;
pub mod threads;
pub mod warpgroup;

/// Tiles are arrays in memory: loops over their elements stay loops.
pub const TILES_IN_REGISTERS: bool = false;

/// The widest access by one call, in bytes.
pub const VECTOR_BYTES: usize = 16;
