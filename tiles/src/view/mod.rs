//! Views: a span cut into tiles, and their loads and stores.

pub mod memory_order;

mod atomic;
mod chunks;
mod deal;
mod each;
mod elements;
mod gather;
mod index;
mod locate;
mod naming;
mod padding;
mod pointer;
pub(crate) mod same;
mod tiled;
pub(crate) mod transfer;
mod walk;

pub use deal::{ColumnMajor, Dealt, DealtTile, FromLastRow, Order, RowMajor, Swizzled, Triangular};
pub use elements::{ElementIndex, IndexEntry, IndexShape, NumberEntry, TileEntry};
pub use gather::{GatherIndex, GatherScatterView};
pub use index::{IndexNumber, TileIndex};
pub use naming::{AnyNumber, InOrder, IndexKind, NamedBy, Naming, SameKind, SameNaming, TakesNames};
pub use padding::{Nan, NegativeInfinity, NegativeZero, Padding, PositiveInfinity, Zero};
pub use tiled::{PartitionView, StridedView, TiledView, WindowView};
pub use walk::{AtElements, AtSteps, SideBySide, Steps, Walk};
