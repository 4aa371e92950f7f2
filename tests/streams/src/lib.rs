//! Pipelined kernels. `cargo xtask ptx` checks their code for each generation of GPUs: tensor cores multiply, TMA or `cp.async`
//! loads the operands, and no register is spilled. `tests/operations/` launches them.
//!
//! The shapes of the tiles suit all targets. Before `sm_90` there are no producer warps. From `sm_100` on there are no warpgroup
//! instructions (`wgmma`).

#![no_std]

pub mod clusters;
pub mod consumers;
pub mod padded;
pub mod pipelines;
pub mod products;
pub mod rings;
pub mod spans;
pub mod weights;
