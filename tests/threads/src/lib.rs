//! Thread-level kernels on `cuda_tiles::cuda_std`: what the examples of Rust-CUDA compute, written anew, and each function of its
//! library once. A kernel on tiles stands beside them.
//!
//! `cargo xtask ptx` checks their code, `tests/cpu.rs` their results on the CPU, and `examples/cust_threads.rs` launches them with `cust`.

#![no_std]

pub mod collectives;
pub mod gemm;
pub mod hash;
pub mod path_tracer;
pub mod vectors;
