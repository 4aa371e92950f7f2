//! What is done with tiles: element by element, along axes, and between shapes.

pub mod arithmetic;
pub mod compare;
pub mod division;
pub mod integers;
pub mod math;
pub mod modes;
pub mod promote;
pub mod reduce;
pub mod repack;
pub mod scan;
pub mod shapes;
pub mod sort;
pub mod tuple;
pub mod with_modes;

mod accumulate;
pub(crate) mod operand;
mod warp_exchange;

pub use operand::{Combined, Operand, Promoted};
