//! The host's side of matrix multiplication: it checks operands, chooses a plan, packs operands and launches kernels.
//!
//! `call.rs` is the call. `plan.rs` chooses among the candidates of `multiply.rs`. `packing.rs` copies operands that kernels cannot read.
//! `launches.rs` makes the launches of a plan. `group.rs` launches several products, and `matrices.rs` accepts operands of two or three
//! axes.

mod call;
mod group;
mod launches;
mod matrices;
mod multiply;
mod options;
mod packing;
mod plan;
mod selection;

pub use call::gemm;
pub use matrices::{Matrices, MatricesMut};
pub use multiply::Multiply;
pub use options::Gemm;
pub use packing::Bits;
pub use plan::{Decomposition, Plan};
