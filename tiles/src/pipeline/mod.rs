//! Producers and consumers: tiles stream through shared memory ahead of the multiplications that read them.
//!
//! A kernel takes its operands as [`TmaLoad`](crate::memory::TmaLoad)s. Producers copy tiles into the stages of a [`Ring`]
//! while consumers multiply the tiles of earlier stages. Results leave through a [`TmaStore`](crate::memory::TmaStore). This
//! matrix multiplication runs at the speed of the vendor's library:
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
//!     let loads = tiles.flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
//!     roles.pipeline(ring, loads, move |cx, mut consumer| {
//!         let mut buffer = buffer;
//!         for tile in c.schedule(cx, order) {
//!             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b));
//!             tile.store(&mut buffer, acc.cast());
//!         }
//!     });
//! }
//! ```
//!
//! * `producer = 32` gives the block a producer warp. [`WarpRoles::pipeline`] runs the iterator `loads` in the producer warp,
//!   and the closure in the consumer warps.
//! * [`Consumer::k_loop`] lends the tiles of one stage to each step. The tensor cores go on reading them while the next step
//!   begins. The library releases a stage when no instruction reads it any more.
//! * [`KLoop::accumulate`] returns the accumulators as an ordinary tile in registers. The epilogue works on this tile: a bias,
//!   an activation, statistics of rows.
//! * [`WarpRoles::pipelines`] has several rings, for operands that stay or that are consumed at different rates.
//! * Elements outside a tensor read as zero and are not written. Any sizes will do.
//! * Loads are tiles of `TmaLoad`s, or [tiles](crate::span::TensorSpan::tile) of [`Span`](crate::span::Span)s, which begin anywhere in memory.
//! * `consumers = 3` has three blocks share the producer and its stages, and [`Consumer::in_turn`] lets them start multiplications in turn.
//!
//! # Order of events
//!
//! Producer and consumers meet at mbarriers in shared memory, two for each stage. Time runs downwards, in a ring of two stages:
//!
//! ```text
//! producer warp                mbarriers               consumer warps
//! load k = 0 into stage 0  --> full[0]  ------------>  wait for full[0], start mma of k = 0
//! load k = 1 into stage 1  --> full[1]  ------------>  wait for full[1], start mma of k = 1
//! wait for empty[0]        <-- empty[0] <------------  mma of k = 0 has retired: release stage 0
//! load k = 2 into stage 0  --> full[0]  ------------>  wait for full[0], start mma of k = 2
//! wait for empty[1]        <-- empty[1] <------------  mma of k = 1 has retired: release stage 1
//! load k = 3 into stage 1  --> full[1]  ------------>  wait for full[1], start mma of k = 3
//! no loads are left        --> ended                   wait for another stage: an error
//! wait for closed          <-- closed   <------------  no warp waits any more
//! ```
//!
//! * `full`: the producer announces the bytes of a stage and starts its copies. The barrier's phase completes when all bytes
//!   have arrived. Consumers wait for it. Producer threads that copy tiles of spans arrive there, each when its copies have arrived.
//! * `empty`: each consumer warp arrives once, when none of its instructions reads the stage any more. The producer waits for
//!   all warps. Blocks that share a producer have such a barrier each: a block that has ended (`closed`) is not waited for any more.
//! * A multiplication of warpgroups is asynchronous: a step releases the stage of the step before it, whose group has retired.
//!
//! # On a GPU
//!
//! From compute capability 9.0 on, TMA copies (`cp.async.bulk.tensor`) and warpgroups multiply (`wgmma.mma_async`). Before 9.0,
//! all threads copy for themselves (`cp.async`) and warps multiply (`mma.sync`). On the CPU a block is one thread, which copies
//! a tile when the consumer waits for it. The kernel is the same.
//!
//! # Without roles
//!
//! [`Ring::copy_ahead`] streams tiles in a kernel without producer warps: the block's own threads copy the tiles of later steps. It takes
//! tiles of any view of a [`Span`](crate::span::Span).
//!
//! # Errors
//!
//! Lifetimes forbid reading a stage after its release or keeping it beyond its step. Producer and consumers do not deadlock.
//! These mistakes are reported as errors, even if a [`StageGuard`] was forgotten: the producer ends too early, a consumer waits
//! while it holds all stages, a stage is released before an older one, a k loop begins while stages are held. Loads that no consumer
//! waits for are not an error.
//!
//! # The files
//!
//! `roles` is the kernel's token; `specialise` splits the block into roles. `ring` and `rings` are the stages and their barriers.
//! `producer` fills stages; `consumer` waits for them and releases them. `ahead` does both without roles. This folder knows `memory`,
//! `schedule`, and `mma` for operands in stages. It knows no epilogue.

pub mod roles;

mod ahead;
mod consumer;
mod producer;
mod ring;
mod rings;
mod specialise;

pub use ahead::{CopiedAhead, CopyAhead};
pub use consumer::in_flight::InFlight;
pub use consumer::mainloop::KLoop;
pub use consumer::{Consumer, StageGuard};
pub use producer::{
    LoadTile, LoadTiles, ProducerLoads, ProducerLoadsIter, ProducerSafe, StageLoad, TileIndices,
};
pub use ring::{AUTOMATIC, Ring, TWO_BLOCKS};
pub use rings::Rings;
pub use roles::WarpRoles;
