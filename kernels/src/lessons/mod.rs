//! The kernels of the lessons in `examples/` and of `docs/tensor-cores.md`, where no ready-made kernel shows the point.

pub mod products;
pub mod streams;
pub mod tiles;

pub use products::{gemm_loads, gemm_streamed, gemm_streamed_gelu};
pub use streams::softmax_streamed;
pub use tiles::{outer_product, row_maximum};
