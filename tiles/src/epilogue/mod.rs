//! The epilogue of a kernel: from accumulators through an epilogue buffer in shared memory to global memory, by TMA.
//!
//! `store` schedules the tiles of a [`TmaStore`](crate::memory::TmaStore) and chooses the way of each [`tile`](StoreTile) to memory.
//! `buffer` is the way through shared memory: threads write a panel into the buffer, one thread starts the copy, and the next panel takes
//! the other buffer. `transposed` is the same way for transposed accumulators. A `panel` is a part of a tile that a warpgroup stores at
//! once. `whole` has the code for tiles whose columns all are TMA's. `ragged` stores rows that TMA cannot, because they do not begin or end
//! at multiples of 16 bytes. `row` is a row operand, such as a bias. This folder knows `memory`, `schedule` and the roles of a pipeline. It
//! knows no multiplication.

mod buffer;
mod panel;
mod ragged;
mod row;
mod store;
mod tile;
mod transposed;
mod whole;

pub use buffer::EpilogueBuffer;
pub use row::TileRow;
pub use store::{ScheduledStores, StoreTiles};
pub use tile::StoreTile;
