//! Runs random kernels on the CPU and on the GPU, and compares what they leave in memory with what the interpreter says.
//!
//! `cargo xtask fuzz` writes a program for each batch of kernels, whose `main` is [`main`].

mod memory;
mod report;

pub use cuda_tiles_host::{Artifact, Device, Launch, Result};
pub use memory::Memory;
pub use report::main;

/// Launches a kernel on tensors of the given memory.
pub type Launcher = fn(&Device, &mut Memory) -> Result<()>;
