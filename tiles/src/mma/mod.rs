//! Products of matrices, on tensor cores where there are any.
//!
//! [`mma`] adds the product of two tiles to a third. Begin with [`Cx::accumulators`]: these sums lie as tensor cores hold them, in the
//! layout [`Accumulators`], and stay there from step to step of a loop. They are tiles like others: what is done to them
//! after the loop, a bias, a maximum of each row, a conversion, a store, costs no detour.
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256, grid = 2)]
//! pub fn product(cx: Cx, a: Span<f16, (u32, u32)>, b: Span<f16, (u32, u32)>, c: SpanMut<f32, (u32, u32)>) {
//!     let (a, b) = (a.partition(cx, shape![64, 32]), b.partition(cx, shape![32, 64]));
//!     let c = c.partition(cx, shape![64, 64]);
//!     let (row, column) = (cx.bid::<0>(), cx.bid::<1>());
//!     let mut sums = cx.accumulators::<f32, _>(shape![64, 64]);
//!     for k in 0..a.num_tiles(1) {
//!         sums = mma(a.load((row, k)), b.load((k, column)), sums);
//!     }
//!     c.store(sums, (row, column));
//! }
//! ```
//!
//! # Which types, which shapes
//!
//! [`MultiplyAccumulate`] lists the combinations of element types. Matrices are the last two axes of tiles of rank 2 or 3; with
//! a batch, that of a factor may be 1. All shapes are legal. Tensor cores serve sums of 16 rows, 8 columns and a block of 32
//! threads or more, where `k` has 16 bytes (of `f64`, 4 elements) or more and 1,024 rows and columns together (of `f64`, 512) or
//! fewer; other shapes, and `f32`, are multiplied without.
//!
//! # Rounding
//!
//! Integers are exact modulo 2^32. Products of floats are exact in the type of the sums but for `f32` and `f64`. The order and
//! the rounding of sums are the machine's: a tensor core adds a few products at a time, with `f16` sums rounded after each step, and
//! cuts off rather than rounds some low bits (M. Fasi, N. Higham, M. Mikaitis and S. Pranesh, "Numerical behavior of NVIDIA tensor
//! cores", 2021); the CPU adds in order of `k`, and rounds `f16` sums once a call. NaN and infinity come out as IEEE 754 has it.
//!
//! # The files
//!
//! `accumulator` is a leaf: registers that products add to, and how to wait for them. `tile` has the products of tiles in registers, which
//! `warp` (`mma.sync`), `simt` (fused multiply-adds of threads) or `cpu` computes. `issue` has the products of operands in shared
//! memory: by `wgmma`, by `mma.sync`, or by whole tiles. This folder knows `memory` and layouts. It knows no pipeline.

pub(crate) mod accumulation;
pub(crate) mod accumulator;
pub(crate) mod instructions;
pub(crate) mod operand;
pub(crate) mod types;

mod cpu;
mod fragment;
mod instruction_shape;
mod issue;
mod pair;
mod promoted;
mod scaled;
mod shapes;
mod simt;
mod staging;
mod tile;
mod warp;
mod wgmma;
mod wgmma_registers;

pub use accumulation::Accumulation;
pub use accumulator::Accumulator;
pub use instructions::{KLoopElement, SharedMma};
pub use issue::OperandB;
pub use operand::OperandA;
pub use scaled::{ScaledMultiply, scaled_mma};
pub use shapes::{BatchOf, MatrixProduct, MultiplyShapes};
pub use tile::{AccumulateFast, FastAccumulation, matmul, mma, mma_with};
pub use types::{Multiply, MultiplyAccumulate};
