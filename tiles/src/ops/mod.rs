//! What is done with tiles: element by element, along axes, and between shapes.

pub mod arithmetic;
pub mod compare;
pub mod math;
pub mod modes;
pub mod promote;
pub mod reduce;
pub mod repack;
pub mod shapes;

mod operand;

pub use operand::Operand;
