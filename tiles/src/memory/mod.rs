//! Shared memory and tensor maps: tiles in shared memory, and the matrices in global memory that TMA copies them from and to.
//!
//! `tensor_map` has the kernel's operands, `shared` the arguments in shared memory. `shared_tile` says where a tile's elements
//! lie, `swizzle` why no bank is met twice, `shared_tile_ref` how consumers read it. `reads` records which multiplications
//! still read a stage; `stage_layout` is what one stage holds; `span_tile` is a tile of a span
//! that is not loaded yet. This folder knows layouts and raw instructions. It knows no
//! multiplication and no pipeline.

pub mod shared;

pub(crate) mod reads;
pub(crate) mod shared_tile;
pub(crate) mod shared_tile_ref;
pub(crate) mod span_tile;
pub(crate) mod stage_layout;
pub(crate) mod swizzle;
pub(crate) mod tensor_map;

pub use shared::SharedMemory;
pub use shared_tile::{Geometry, SharedTile, SharedTileShape};
pub use shared_tile_ref::{SharedOperand, SharedTileRef, Transposed};
pub use span_tile::SpanTile;
pub use stage_layout::StageLayout;
pub use tensor_map::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TmaLoad, TmaStore};
