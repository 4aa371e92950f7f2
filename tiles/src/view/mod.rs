//! Views: a span cut into tiles, and their loads and stores.

pub mod memory_order;

mod ahead;
mod atomic;
mod chunks;
mod element_wise;
mod elements;
mod gather;
mod index;
mod list;
mod loads;
mod locate;
mod located;
mod ownership;
mod padding;
mod partition;
pub(crate) mod partition_check;
mod pointer;
mod schedule;
mod short_rows;
mod tiled;
pub(crate) mod transfer;
mod traversal;

pub use elements::{ElementIndex, IndexEntry, IndexShape, NumberEntry, TileEntry};
pub use gather::{GatherIndex, GatherScatterView};
pub use index::{IndexNumber, TileIndex};
pub use list::{BehindItem, ItemIndex, ListView};
pub use ownership::{AnyNumber, InOrder, IndexKind, NamedBy, Naming, SameKind, SameNaming, TakesNames};
pub use padding::{Nan, NegativeInfinity, NegativeZero, Padding, PositiveInfinity, Zero};
pub use schedule::{ScheduledTile, ScheduledTiles};
pub use tiled::{PartitionView, StridedView, TiledView, WindowView};
pub use traversal::{AtElements, AtSteps, SideBySide, Steps, Traversal};
