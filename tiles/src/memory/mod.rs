//! Shared memory and tensor maps: tiles in shared memory, and the matrices in global memory that TMA copies them from and to.
//!
//! This folder knows layouts and raw instructions. It knows no product and no pipeline.

pub mod shared;

pub(crate) mod reads;
pub(crate) mod shared_tile;
pub(crate) mod shared_tile_ref;
pub(crate) mod swizzle;
pub(crate) mod tensor_map;

pub use shared::SharedMemory;
pub use shared_tile::{Geometry, SharedTile, SharedTileShape, StageLayout};
pub use shared_tile_ref::{SharedOperand, SharedTileRef, Transposed};
pub use tensor_map::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TmaLoad, TmaStore};
