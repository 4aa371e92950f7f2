//! The producer: it names the tiles that consumers will want, and copies them into the ring.

pub(crate) mod cp_async;

mod loads;
mod stage_load;
mod tma;

pub use loads::{ProducerLoads, ProducerLoadsIter, TileIndices};
pub use stage_load::{LoadTile, LoadTiles, StageLoad};

/// What the copying role can do alone: everything but tile operations, which are the computing threads'.
#[diagnostic::on_unimplemented(
    message = "the feed of a pipeline runs in the copying warp, and can use sources and numbers alone",
    label = "holds the running block, a tile or a view",
    note = "tile operations belong to the computing threads: let the feed capture sources and numbers, by `move`"
)]
pub trait ProducerSafe: Send {}

#[diagnostic::do_not_recommend]
impl<X: Send + 'static> ProducerSafe for X {}
