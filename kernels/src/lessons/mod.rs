//! The kernels of the lessons in `examples/` and of `docs/book/src/tensor-cores.md`, where no ready-made kernel shows the
//! point.

pub mod alignment;
pub mod products;
pub mod streams;
pub mod tiles;
