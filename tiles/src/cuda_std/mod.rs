//! Thread-level kernels: the names and the meaning of Rust-CUDA's `cuda_std` 0.2.
//!
//! A kernel that was written for `cuda_std` compiles with `cuda_tiles::cuda_std` in place of it. Its launch stays as it is, by
//! `cust`: the entry has the function's name, and a slice is two parameters. Such kernels and kernels on tiles may share a crate.
//!
//! ```
//! use cuda_tiles::cuda_std::prelude::*;
//!
//! #[kernel]
//! pub unsafe fn vecadd(a: &[f32], b: &[f32], c: *mut f32) {
//!     let i = thread::index_1d() as usize;
//!     if i < a.len() {
//!         unsafe { *c.add(i) = a[i] + b[i] };
//!     }
//! }
//!
//! // The kernel on the CPU: a grid of 4 blocks of 256 threads.
//! let (a, b) = (vec![1.0; 1000], vec![2.0; 1000]);
//! let mut c = vec![0.0; 1000];
//! let out = c.as_mut_ptr();
//! // SAFETY: each thread writes an element of its own, and there are 1000.
//! unsafe { cuda_tiles::cuda_std::cpu::launch(4, 256, 0, || vecadd(&a, &b, out)) };
//! assert!(c.iter().all(|&sum| sum == 3.0));
//! ```
//!
//! | here | what |
//! |---|---|
//! | [`kernel`] | the attribute of an `unsafe fn` that is launched |
//! | [`thread`] | indices, barriers of the block, fences |
//! | [`warp`] | shuffles, votes, matches and reductions within a warp |
//! | [`shared_array!`](crate::cuda_std::shared_array), [`shared`] | memory of the block |
//! | [`atomic`] | atomic floats, and functions for each operation, type and scope |
//! | [`GpuFloat`] | functions of `f32` and `f64` |
//! | [`ptr`], [`misc`] | spaces of memory; clock, breakpoints |
//! | [`cpu`] | launches on the CPU, for tests |
//!
//! What `cuda_std` has besides, and what differs, is on the page "From Rust-CUDA" of the book.
//!
//! # Thread-level kernels and tiles
//!
//! A safe kernel on tiles cannot use this module: the builder refuses one that asks for the number of a thread, and on the CPU
//! it panics. Declare the kernel as an `unsafe fn`, or use [`Cx::simt`](crate::context::Cx::simt).

pub mod atomic;
#[cfg(not(target_arch = "nvptx64"))]
pub mod cpu;
#[doc(hidden)]
pub mod entry;
pub mod float;
pub mod misc;
pub mod ptr;
pub mod shared;
pub mod thread;
pub mod vector;
pub mod warp;

pub use core::{assert_eq, assert_ne};
pub use cuda_tiles_macros::{externally_visible, gpu_only, shared_array, thread_kernel as kernel};
pub use float::GpuFloat;
pub use half::{self, bf16, f16};

/// What most kernels need: `use cuda_tiles::cuda_std::prelude::*;`.
pub mod prelude {
    pub use super::{assert_eq, assert_ne, f16, kernel, thread};
}
