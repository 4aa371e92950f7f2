//! The kernels of the lessons in `examples/` and of `docs/tensor-cores.md`, where no ready-made kernel shows the point.

pub mod products;
pub mod streams;
pub mod tiles;

// All of them: what is no entry does not exist for the device.
pub use products::*;
pub use streams::*;
pub use tiles::*;
