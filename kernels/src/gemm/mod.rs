//! Matrix multiplication: `c = activation(alpha a b + beta c + bias)`.
//!
//! On the host (feature `host`), [`gemm`] multiplies tensors of any size, majorness and padding. [`Gemm`] adds scales, a bias, an
//! activation, a stream, and groups of products. On the device, [`product`] is the body for a kernel of your own.
//!
//! # What is where
//!
//! * `table.rs` lists all element types and tile shapes. The instances of the kernels and the candidates of the host come from it.
//! * [`kernels`], [`narrow`] (few rows), [`rows`] (tiles of any multiple of 16 rows) and [`swap_ab`] (32-bit elements, MN-major `b`) are the
//!   kernels that TMA feeds. `body.rs` is their common body. [`threads`] has the kernels whose threads load the operands, for small products
//!   and for operands that TMA cannot read, and [`ahead`] those whose threads copy them ahead. [`vector`] has the kernels for results of one
//!   row or one column.
//! * `scheduler.rs` gives each block its work tiles. `stream_k.rs` divides the last wave among all blocks. [`split_k`] is the second pass,
//!   which adds up partial sums.
//! * `epilogue.rs` applies scales, bias and activation to the accumulators.
//! * `on_cpu.rs` says which kernels have code for the CPU, too.
//! * [`pack`] copies operands that TMA cannot read.
//! * `host/` chooses a plan for a product (`plan.rs`), packs operands (`packing.rs`) and launches kernels (`launches.rs`).
//!
//! To add a tile shape, add an entry such as `nt 128 128 64 false` to a list in `table.rs`. Columns may be 160 or 192, too. To add a
//! combination of types, add a list with the types in brackets to the macro of its feature. A type that is new as an operand also needs an
//! entry in `kinds!` of `host/multiply.rs`, and in `on_cpu.rs`. A result type that is new for split-K needs an instance of
//! [`reduce_split_k`](split_k::reduce_split_k).
//!
//! # A kernel of your own
//!
//! A kernel with another epilogue calls [`product`]:
//!
//! ```
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_kernels::gemm::{Transposed, product};
//!
//! /// `c = max(a bᵀ / 8, 0)`, in tiles of 64 x 64 and k steps of 32.
//! #[kernel(threads = 128, producer = 32)]
//! pub fn scaled(
//!     roles: WarpRoles,
//!     a: TmaLoad<f16, Shape2<64, 32>>,
//!     b: TmaLoad<f16, Shape2<64, 32>>,
//!     c: TmaStore<f16, Shape2<64, 64>>,
//!     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 32>>, SharedTile<f16, Shape2<64, 32>>)>,
//!     #[shared] buffer: EpilogueBuffer<1>,
//! ) {
//!     product(roles, a, Transposed(b), c, ring, buffer, |_cx, acc, _tile| {
//!         (acc * 0.125).maximum(0.0).cast::<f16>()
//!     });
//! }
//! # #[cfg(feature = "host")]
//! # {
//! use cuda_tiles_host::{Device, Launch, Tensor};
//! let device = Device::cpu();
//! let a = Tensor::full(&device, [70, 40], f16::from_f32(0.5))?;
//! let b = Tensor::full(&device, [80, 40], f16::from_f32(2.0))?;
//! let mut c = Tensor::poisoned(&device, [70, 80])?;
//! // The blocks share the tiles of `c`. A GPU wants one block for each multiprocessor.
//! scaled.launch(&device, device.multiprocessors(), (&a, &b, &mut c))?;
//! assert!(c.to_vec()?.iter().all(|&x| x == f16::from_f32(5.0)));
//! # }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

// With the kernels of some element types alone, not all of what kernels share has a use, and unit tests have no kernels.
#![cfg_attr(any(test, not(feature = "gemm")), allow(unused))]

#[macro_use]
mod table;

pub mod ahead;
mod body;
mod epilogue;
pub mod kernels;
pub mod narrow;
mod on_cpu;
pub mod pack;
pub mod rows;
mod scheduler;
pub mod split_k;
mod stream_k;
pub mod swap_ab;
pub mod threads;
pub mod vector;

#[cfg(feature = "host")]
mod host;

pub use body::{AccumulatorOf, LoadOperandA, LoadOperandB, Transposed, product};
pub use epilogue::{Activation, Scales, Sum};
pub use scheduler::TileRange;

#[cfg(feature = "host")]
pub use host::*;
