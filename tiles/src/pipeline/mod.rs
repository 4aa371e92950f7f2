//! Tiles that stream through shared memory, ahead of where they are used.
//!
//! A kernel that computes on tensor cores reads its operands many times over, in tiles that a block shares. It takes them as
//! [`TmaLoad`]s, lets them be copied into the stages of a [`Ring`] while it computes on earlier ones, and writes its results
//! through a [`TmaStore`]. This is a matrix product at the speed of the vendor's library:
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256, producer = 32)]
//! pub fn product(
//!     roles: WarpRoles,
//!     a: TmaLoad<f16, Shape2<128, 64>>,
//!     b: TmaLoad<f16, Shape2<64, 256>>,
//!     c: TmaStore<f16, Shape2<128, 256>>,
//!     #[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 256>>), 4>,
//!     #[shared] buffer: EpilogueBuffer<2>,
//! ) {
//!     let (order, steps) = (Grouped::<16>, a.tile_counts().1);
//!     let tiles = roles.tile_indices(order, c.tile_counts());
//!     let feed = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
//!     roles.pipeline(ring, feed, move |cx, mut consumer| {
//!         let mut buffer = buffer;
//!         for tile in c.schedule(cx, order) {
//!             let sums = consumer.k_loop(steps).accumulate(cx, |sums, (a, b)| sums.mma(a, b));
//!             tile.store(&mut buffer, sums.cast());
//!         }
//!     });
//! }
//! ```
//!
//! * `producer = 32` gives the block a warp that copies. [`WarpRoles::pipeline`] runs `feed` in it, an iterator over the tiles to be
//!   copied, and the closure in the other threads.
//! * [`Consumer::k_loop`] lends the stages of each message for the time of one step. What the tensor cores do with them goes on
//!   while the next step begins; the library gives a stage back when nothing reads it any more.
//! * [`KLoop::accumulate`] gives an ordinary tile, laid out as tensor cores leave it: everything that tiles can do is done on
//!   it in registers, such as adding a bias, an activation or statistics of rows.
//! * [`WarpRoles::pipelines`] has several rings, for operands that stay or are used up at different rates.
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
//! reported as errors, also if a [`StageGuard`] message was forgotten. A feed that goes on too long is left alone.

pub mod roles;

mod consumer;
mod producer;
mod ring;
mod rings;
mod specialise;

pub use consumer::in_flight::InFlight;
pub use consumer::k_loop::KLoop;
pub use consumer::{Consumer, StageGuard};
pub use producer::{
    LoadTile, LoadTiles, ProducerLoads, ProducerLoadsIter, ProducerSafe, StageLoad, TileIndices,
};
pub use ring::{AUTOMATIC, Ring};
pub use rings::Rings;
pub use roles::WarpRoles;
