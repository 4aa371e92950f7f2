//! Schedules: which tiles a block of a persistent grid computes, and in which order.
//!
//! `order` has the tile orders (rasterisations). `indices` gives a block its tile indices. `numbers` does the same for streamed products. This
//! folder knows no view and no memory.

pub(crate) mod indices;
pub(crate) mod numbers;
pub(crate) mod order;

pub use order::{CausalBalanced, ColumnMajor, FromLastRow, Grouped, RowMajor, TileOrder};
