//! Matrix multiplication, on tensor cores where there are any.
//!
//! [`mma`] adds the product of two tiles to accumulators. Begin with [`Cx::accumulators`](crate::tile::Create::accumulators):
//! these tiles lie as tensor cores hold them, in the layout [`Accumulators`](crate::layout::Accumulators), and stay there
//! throughout a loop. Accumulators are ordinary tiles. An epilogue, such as a bias, a maximum of each row, a conversion or a
//! store, needs no change of layout.
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 256, grid = 2)]
//! pub fn product(cx: Cx, a: Span<f16, (u32, u32)>, b: Span<f16, (u32, u32)>, c: SpanMut<f32, (u32, u32)>) {
//!     let (a, b) = (a.partition(cx, shape![64, 32]), b.partition(cx, shape![32, 64]));
//!     let c = c.partition(cx, shape![64, 64]);
//!     let (row, column) = (cx.bid::<0>(), cx.bid::<1>());
//!     let mut acc = cx.accumulators::<f32>(shape![64, 64]);
//!     for k in 0..a.num_tiles(1) {
//!         acc = mma(a.load((row, k)), b.load((k, column)), acc);
//!     }
//!     c.store(acc, (row, column));
//! }
//! ```
//!
//! # Types and shapes
//!
//! [`MultiplyAccumulate`] lists the combinations of element types. Matrices are the last two axes of tiles of rank 2 or 3. The
//! batch of an operand may be 1. All shapes are legal.
//!
//! Tensor cores serve accumulators of at least 16 rows and 8 columns in a block of at least 32 threads. `k` has at least 16
//! bytes (of `f64`, 4 elements), and rows and columns are together at most 1,024 (of `f64`, 512). Other shapes, and `f32`, are
//! multiplied without tensor cores.
//!
//! # Rounding
//!
//! Integers are exact modulo 2^32. Each single product of floats is exact in the type of the accumulators, except for `f32` and
//! `f64`. NaN and infinity follow IEEE 754.
//!
//! The order and the rounding of the additions depend on the machine. A tensor core adds a few products at a time, rounds `f16`
//! accumulators after each step, and truncates some low bits instead of rounding (M. Fasi, N. Higham, M. Mikaitis and S.
//! Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021). The CPU adds in order of `k`, and rounds `f16` accumulators
//! once a call.
//!
//! # The files
//!
//! `accumulator` is a leaf: registers that multiplications add to, and how to wait for them. `tile` multiplies tiles in
//! registers, by `warpgroups` (`wgmma`), `warp` (`mma.sync`), `simt` (fused multiply-adds of threads) or `cpu`; `fragments_a` are operands
//! A that threads hold as tensor cores read them. `issue` multiplies operands in shared
//! memory, by `wgmma`, by `mma.sync`, or as whole tiles; `pair` decides. `promoted` and `wgmma_registers` are two special cases
//! of `wgmma`. This folder knows `memory` and layouts. It knows no pipeline.

pub(crate) mod accumulation;
pub(crate) mod accumulator;
pub(crate) mod instructions;
pub(crate) mod operand;
pub(crate) mod types;

mod cpu;
mod fragment;
mod fragments_a;
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
mod warpgroups;
mod wgmma;
mod wgmma_registers;

pub use accumulation::{Accumulation, PromotedAccumulation};
pub use accumulator::{Accumulator, CreateAccumulator};
pub use instructions::{KLoopElement, SharedMma};
pub use issue::OperandB;
pub use operand::OperandA;
pub use scaled::{ScaledMultiply, scaled_mma};
pub use shapes::{BatchOf, MatrixProduct, MultiplyShapes};
pub use tile::{AccumulateFast, FastAccumulation, matmul, mma, mma_with};
pub use types::{Multiply, MultiplyAccumulate};
