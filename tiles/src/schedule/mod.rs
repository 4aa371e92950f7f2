//! Schedules: which tiles a block of a persistent grid computes, and in which order.
//!
//! `order` has the tile orders (rasterisations). `numbers` gives a block the numbers of its tiles: its own index plus multiples
//! of the number of blocks. `indices` turns these into tile indices. This folder knows no view and no memory.

pub(crate) mod indices;
pub(crate) mod numbers;
pub(crate) mod order;

pub use order::{CausalBalanced, ColumnMajor, FromLastRow, Grouped, RowMajor, TileOrder};
