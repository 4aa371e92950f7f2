//! What is done with tiles: element by element, along axes, and between shapes.

// The order is that of the tables in the documentation of `Tile`: rustdoc lists methods in the order of their modules.
pub mod arithmetic;
pub mod division;
pub mod integers;

pub mod compare;

pub mod math;

pub mod modes;
pub mod with_modes;

pub mod reduce;
pub mod scan;
pub mod sort;
pub mod tuple;

pub mod shapes;

pub mod promote;
pub mod repack;

mod accumulate;
pub(crate) mod operand;
mod warp_exchange;

pub use operand::{Combined, Operand, Promoted};
