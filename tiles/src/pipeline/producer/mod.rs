//! The producer: it copies the tiles that consumers will wait for into the stages of a ring.
//!
//! `loads` says which tiles in which order, `stage_load` how a tile gets into a stage, `boxes` in which boxes TMA copies it, `sharing`
//! which blocks of a cluster copy which part of it. `tma` is the producer warp: it waits for `empty`, announces the bytes at `full`, and
//! starts the copies. `threads` is that of a ring whose tiles are those of spans: all its threads (`copiers`) copy, by `span_copies`.
//! `cp_async` is the producer without such a warp.

pub(crate) mod cp_async;

mod boxes;
mod copiers;
mod loads;
mod sharing;
mod span_copies;
mod stage_load;
mod threads;
mod tma;

pub(crate) use copiers::{ProducersOfRing, ThreadsOfBlock};
pub use loads::{ProducerLoads, ProducerLoadsIter, TileIndices};
pub(crate) use sharing::PlaceInCluster;
pub use stage_load::{LoadTile, LoadTiles, StageLoad};
pub(crate) use tma::Arrivals;

/// Values that the producer warp can use: everything but tile operations, which belong to the consumers.
#[diagnostic::on_unimplemented(
    message = "the loads of a pipeline run in the producer warp, and can use `TmaLoad`s, `Span`s and numbers alone",
    label = "holds the running block, a tile, a view or a span that can be written",
    note = "tile operations belong to the consumers: let the loads capture `TmaLoad`s, `Span`s for `tile` and `item`, and numbers, by `move`"
)]
pub trait ProducerSafe: Send {}

#[diagnostic::do_not_recommend]
impl<X: Send + 'static> ProducerSafe for X {}
