//! Views: a span cut into tiles, and their loads and stores.

pub mod memory_order;

mod atomic;
mod deal;
mod index;
mod locate;
mod padding;
mod partition;
mod transfer;

pub use deal::{ColumnMajor, Dealt, DealtTile, Order, RowMajor, Swizzled};
pub use index::{IndexNumber, TileIndex};
pub use padding::{Nan, NegativeInfinity, NegativeZero, Padding, PositiveInfinity, Zero};
pub use partition::PartitionView;
