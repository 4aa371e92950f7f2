//! Streamed kernels, of which `cargo xtask ptx` checks the code for each generation of GPUs: that tensor cores multiply, that
//! the copy engine or asynchronous copies fetch, and that no register is spilled. `tests/operations/` launches them.
//!
//! The tiles are such as serve all targets. Before `sm_90` there are no copying threads, and from `sm_100` on no warpgroups.

#![no_std]

pub mod pipelines;
pub mod products;
pub mod rings;
