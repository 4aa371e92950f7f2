//! The host's side of products: which kernel for which operands, and its launch.

mod call;
mod group;
mod launches;
mod matrices;
mod multiply;
mod packing;
mod plan;

pub use call::{Gemm, gemm};
pub use matrices::{Matrices, MatricesMut};
pub use multiply::Multiply;
pub use packing::Bits;
pub use plan::{Cut, Plan};
