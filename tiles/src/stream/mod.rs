//! Tiles that stream through shared memory, ahead of where they are used.
//!
//! A kernel that computes on tensor cores reads its operands many times over, in tiles that a block shares: it takes them as
//! [`TileSource`]s, and writes its results through [`TileSink`]s. The stages that hold tiles meanwhile are arguments marked
//! `#[shared]`: [memory of the block](SharedMemory), for which the launch asks the GPU. A kernel whose first argument is
//! [`Split`] has threads besides its own that do nothing but copy.

mod accumulator;
mod feed;
mod fills;
pub mod matrix;
mod pipeline;
mod product;
mod receiver;
mod ring;
pub mod shared;
mod sink;
pub mod split;
mod stage;
mod staged;

pub use accumulator::{Accumulator, InFlight};
pub use feed::{TileFeed, TileIndices};
pub use fills::{Fills, SourceTile, TileWalk};
pub use matrix::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TileSink, TileSource};
pub use pipeline::CopiesAlone;
pub use product::{LeftFactor, StagedProduct};
pub use receiver::{Held, Receiver, Steps};
pub use ring::{AUTOMATIC, Ring};
pub use shared::SharedMemory;
pub use sink::{SinkTile, Stash};
pub use split::Split;
pub use stage::{Stage, StagedFactor, Transposed};
pub use staged::{Geometry, Message, Staged, StagedTile};
