//! The host's side of [`cuda_tiles`]: devices, tensors, and kernel launches that the compiler checks.
//!
//! A [`Device`] is a GPU or the CPU. [`Tensor`]s live on one device. A kernel, made by `#[kernel]`, is a value that
//! [launches](Launch) on a device with ordinary references as arguments: `&tensor` for a read-only span, `&mut tensor`
//! for a writable one, numbers for numbers. Element types, ranks and access are checked by the compiler; shapes,
//! devices and limits when launching, with an [`Error`] that names the kernel and the argument.
//!
//! ```
//! use cuda_tiles_host::{Device, Tensor};
//!
//! // The GPU if there is a driver, else the CPU; CUDA_TILES_DEVICE=cpu forces the latter.
//! let device = Device::auto()?;
//! println!("running on {device}");
//!
//! let x = Tensor::from_slice(&device, [2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! assert_eq!(x.view().transpose().to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # Ok::<(), cuda_tiles_host::Error>(())
//! ```
//!
//! A launch. The kernel stands beside it here and runs on the CPU; for the GPU it lives in a crate of its own, which a
//! build script compiles to PTX, [`include_kernels!`] embeds and [`Device::load`] loads.
//!
//! ```
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_host::{Device, Launch, Tensor};
//!
//! #[kernel]
//! fn softmax(cx: Cx, x: Span<f32, (u32, D<64>)>, y: SpanMut<f32, (u32, D<64>)>) {
//!     let (x, y) = (x.partition(cx, shape![1, 64]), y.partition(cx, shape![1, 64]));
//!     let row = (cx.bid::<0>(), 0);
//!     let t = x.load(row);
//!     let e = (t - t.max::<1>()).exp();
//!     y.store(e / e.sum::<1>(), row);
//! }
//!
//! let device = Device::cpu();
//! let x = Tensor::full(&device, [8, 64], 3.0)?;
//! let mut y = Tensor::poisoned(&device, [8, 64])?;
//! softmax.launch(&device, 8, (&x, &mut y))?;
//! assert_eq!(y.to_vec()?, [1.0 / 64.0; 512]);
//! # Ok::<(), cuda_tiles_host::Error>(())
//! ```
//!
//! # Order and safety
//! Launches are asynchronous on the GPU. Every tensor knows which streams still use it: a launch on another stream, a
//! copy to the host and the end of the tensor wait for as much as they have to, so that safe code has no races.
//!
//! # Features
//! - `cudarc` (default): GPUs. The driver is loaded at run time; nothing of CUDA is needed to build, and the program
//!   starts on machines without it.
//! - `cust`: launches the same kernels on the contexts, streams and buffers of the crate `cust`.
//! - `nccl`: several GPUs, by [`collectives`]. NCCL is loaded at run time, too.
//! - `dlpack`, `cuda-array-interface`: arrays of other libraries in the same process, without a copy.
//! - `ndarray`: tensors from and to arrays of the crate `ndarray`.
//! - `nvtx`: ranges on the time lines of profilers.
//! - `npy`, `npz`, `safetensors`, `gguf`: tensors from and to files.

mod access;
mod argument;
mod artifact;
#[cfg_attr(
    not(any(feature = "cudarc", feature = "cust")),
    allow(dead_code, reason = "the CPU runs no code for GPUs")
)]
mod code;
#[cfg(feature = "nccl")]
pub mod collectives;
mod cpu;
#[cfg(feature = "cudarc")]
pub mod cudarc;
#[cfg(feature = "cust")]
pub mod cust;
mod device;
#[cfg_attr(
    not(any(feature = "cudarc", feature = "cust")),
    allow(dead_code, reason = "the CPU runs no code for GPUs")
)]
mod entry;
mod error;
#[cfg(any(feature = "dlpack", feature = "cuda-array-interface", feature = "ndarray"))]
mod exchange;
#[cfg(any(feature = "npy", feature = "safetensors", feature = "gguf"))]
pub mod files;
#[cfg(feature = "cudarc")]
mod gpu;
#[cfg(not(feature = "cudarc"))]
#[path = "gpu/absent.rs"]
mod gpu;
mod graph;
mod grid;
mod launch;
mod matrix;
#[cfg(feature = "nvtx")]
pub mod nvtx;
mod owner;
mod parameters;
mod pinned;
mod pool;
mod prepared;
mod printer;
mod recording;
#[cfg(any(
    feature = "dlpack",
    feature = "cuda-array-interface",
    feature = "npy",
    feature = "safetensors",
    feature = "gguf",
    feature = "nccl"
))]
mod sealed;
mod size;
mod slow;
mod stream;
mod tensor;
#[cfg_attr(
    not(any(feature = "cudarc", feature = "cust")),
    allow(dead_code, reason = "the CPU has no tensor maps")
)]
mod tensor_maps;
mod timing;
mod trace;
#[cfg(any(feature = "npy", feature = "cuda-array-interface"))]
mod typestr;
#[cfg_attr(not(feature = "cudarc"), allow(dead_code, reason = "the CPU has nothing to compile"))]
mod warm_up;
mod workspace;

pub use argument::{Argument, Arguments};
pub use artifact::{Artifact, Entry, Image};
pub use code::Code;
pub use device::Device;
pub use error::{ArgumentError, Dimensions, Error, Report, Result};
#[cfg(feature = "cuda-array-interface")]
pub use exchange::cuda_array;
#[cfg(feature = "dlpack")]
pub use exchange::dlpack;
#[cfg(any(feature = "dlpack", feature = "cuda-array-interface"))]
pub use exchange::{ExchangeError, ReadOnlyTensor};
pub use graph::{Graph, GraphOperands, OperandList};
pub use grid::{BlockCount, Grid};
pub use launch::{Launch, LaunchUnsafe};
pub use pinned::PinnedBuffer;
pub use pool::PoolMemory;
pub use printer::set_printer;
pub use stream::{Event, Stream};
pub use tensor::{Tensor, TensorView, TensorViewMut};
pub use timing::{Timer, Timing};
pub use trace::{Trace, set_trace};
#[cfg(any(feature = "npy", feature = "cuda-array-interface"))]
pub use typestr::{NumpyElement, TypeStr, TypeStrError};
pub use warm_up::Progress;
pub use workspace::workspace;

// The element types that Rust does not have itself, so that a program needs no other crate for its tensors.
pub use cuda_tiles::element::{
    Element, bf16, f4e2m1x2, f8e4m3, f8e5m2, f8e8m0, f8ue5m3, f16, i4x2, tf32, u4x2,
};
