//! Rows of a tensor by their numbers: tiles whose position along one axis is a tile of indices.

mod atomic;
mod index;
mod rows;

pub use index::GatherIndex;
pub use rows::GatherScatterView;
