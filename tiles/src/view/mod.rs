//! Views: a span cut into tiles, and their loads and stores.

pub mod memory_order;

mod atomic;
mod each;
mod elements;
mod gather;
mod index;
mod locate;
mod padding;
mod partition;
mod pointer;
mod transfer;

pub use elements::{ElementIndex, IndexEntry};
pub use gather::{GatherIndex, GatherScatterView};
pub use index::{IndexNumber, TileIndex};
pub use padding::{Nan, NegativeInfinity, NegativeZero, Padding, PositiveInfinity, Zero};
pub use partition::PartitionView;
