//! The host's side of matrix multiplication: it checks operands, chooses a plan, packs operands and launches kernels.
//!
//! `call.rs` is the call. `plan.rs` has the plans for the candidates of `multiply.rs`, `model.rs` estimates their times by the tables of
//! `tile_costs.rs`, and `tuned.rs` knows measured ones. `packing.rs` copies operands that kernels cannot read. `launches.rs` makes the
//! launches of a plan, and `vector.rs` the arguments of kernels for a vector. `group.rs` launches several products, and `matrices.rs`
//! accepts operands of two or three axes.

mod call;
mod group;
mod launches;
mod matrices;
mod model;
mod multiply;
mod options;
mod packing;
mod plan;
mod selection;
mod tile_costs;
mod tuned;
mod vector;

pub use call::gemm;
pub use matrices::{Matrices, MatricesMut};
pub use multiply::Multiply;
pub use options::Gemm;
pub use packing::Bits;
pub use plan::{Decomposition, Loads, Plan};
