//! What a kernel is compiled for, as constants: branches on them are decided by the compiler, alike for all threads.
//!
//! Kernels seldom need them, as the same source is meant for all machines. A kernel that is for some GPUs alone says so in its
//! attribute, [`targets`](macro@crate::kernel#targets). Where one wants other tiles on another machine, an
//! `if` on a constant leaves nothing of the other branch:
//!
//! ```
//! use cuda_tiles::prelude::*;
//! use cuda_tiles::target;
//!
//! /// The rows that a block sums up at once: more where it holds tiles in memory.
//! const ROWS: usize = if target::TILES_IN_REGISTERS { 4 } else { 64 };
//!
//! #[kernel]
//! fn sums(cx: Cx, x: Span<f32, (u32, D<32>)>, y: SpanMut<f32, (u32,)>) {
//!     let (x, y) = (x.partition(cx, shape![ROWS, 32]), y.partition(cx, shape![ROWS]));
//!     let i = cx.bid::<0>();
//!     y.store_masked(x.load_masked(Zero, (i, 0)).sum::<1>().reshape(shape![ROWS]), i);
//! }
//! ```

use crate::arch;

/// Whether tiles are spread over the registers of many threads, as on a GPU, and not held in memory by one, as on the CPU.
pub const TILES_IN_REGISTERS: bool = arch::TILES_IN_REGISTERS;

/// Whether four warps multiply together, as warpgroups of compute capability 9.0 do in code for `sm_90a`.
pub const WARPGROUPS: bool = arch::matrix::WARPGROUPS;
