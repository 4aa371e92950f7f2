//! Tiles that stream through shared memory, ahead of where they are used.
//!
//! A kernel that computes on tensor cores reads its operands many times over, in tiles that a block shares. It takes them as
//! [`TileSource`]s, lets them be copied into the stages of a [`Ring`] while it computes on earlier ones, and writes its results
//! through a [`TileSink`]. This is a matrix product at the speed of the vendor's library:
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256, copy = 32)]
//! pub fn product(
//!     block: Split,
//!     a: TileSource<f16, Shape2<128, 64>>,
//!     b: TileSource<f16, Shape2<64, 256>>,
//!     c: TileSink<f16, Shape2<128, 256>>,
//!     #[shared] ring: Ring<(Staged<f16, Shape2<128, 64>>, Staged<f16, Shape2<64, 256>>), 4>,
//!     #[shared] stash: Stash<2>,
//! ) {
//!     let (order, steps) = (Swizzled::<16>, a.tile_counts().1);
//!     let tiles = block.indices(order, c.tile_counts());
//!     let feed = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
//!     block.pipeline(ring, feed, move |cx, mut receiver| {
//!         let mut stash = stash;
//!         for tile in c.deal(cx, order) {
//!             let sums = receiver.steps(steps).sum::<f32, _, _, _>(cx, |sums, (a, b)| sums.mma(a, b));
//!             tile.store(&mut stash, sums.cast());
//!         }
//!     });
//! }
//! ```
//!
//! * `copy = 32` gives the block a warp that copies. [`Split::pipeline`] runs `feed` in it, an iterator over the tiles to be
//!   copied, and the closure in the other threads.
//! * [`Receiver::steps`] lends the stages of each message for the time of one step. What the tensor cores do with them goes on
//!   while the next step begins; the library gives a stage back when nothing reads it any more.
//! * [`Steps::sum`] gives an ordinary tile, laid out as tensor cores leave it: everything that tiles can do is done on
//!   it in registers, such as adding a bias, an activation or statistics of rows.
//! * [`Split::pipelines`] has several rings, for operands that stay or are used up at different rates.
//! * What lies outside of a tensor reads as zero and is not written, so that any sizes will do.
//!
//! On GPUs from compute capability 9.0 on, the copy engine copies and warpgroups multiply; before, all threads copy for
//! themselves and warps multiply; on the CPU a block is one thread, and tiles are copied when they are received. The kernel is
//! the same.
//!
//! # What cannot go wrong
//!
//! A stage cannot be read after it was given back, or kept beyond its step: lifetimes say so. The two sides cannot wait for
//! each other: a feed that ends too early, stages that are all held when another is received, and steps while messages are held are
//! reported as errors, also if a [`Held`] message was forgotten. A feed that goes on too long is left alone.

mod accumulator;
mod across;
mod apart;
mod copies;
mod feed;
mod fills;
mod left;
pub mod matrix;
mod pair;
mod pipeline;
mod product;
mod progress;
mod ragged;
mod receiver;
mod ring;
mod rings;
mod row;
pub mod shared;
mod sink;
pub mod split;
mod stage;
mod staged;
mod warpgroups;

pub use accumulator::{Accumulator, InFlight};
pub use feed::{FeedTiles, TileFeed, TileIndices};
pub use fills::{Fills, SourceTile, TileWalk};
pub use matrix::{MatrixLayout, MatrixShape, TensorBox, TensorMap, TileSink, TileSource};
pub use pipeline::CopiesAlone;
pub use product::{Accumulation, LeftFactor, RightFactor, StagedProduct};
pub use receiver::{Held, Receiver, Steps};
pub use ring::{AUTOMATIC, Ring};
pub use rings::Rings;
pub use row::TileRow;
pub use shared::SharedMemory;
pub use sink::{SinkTile, SinkTiles, Stash};
pub use split::Split;
pub use stage::{Stage, StagedFactor, Transposed};
pub use staged::{Geometry, Message, Staged, StagedTile};
