//! Exports host functions that launch [`cuda_tiles`](cuda_tiles_host) kernels to Python: to PyTorch, JAX, CuPy and NumPy.
//!
//! A crate of `crate-type = ["cdylib"]` marks functions with [`export`]. Its library is a module of TVM-FFI, which the Python package
//! `apache-tvm-ffi` loads. Tensors come without copies, by DLPack, and launches go to the caller's stream.
//!
//! ```
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_ffi::{Call, TensorView, TensorViewMut, export};
//! use cuda_tiles_host::{Grid, Launch, Result};
//!
//! #[kernel]
//! fn add(cx: Cx, x: Span<f32, (u32,)>, y: Span<f32, (u32,)>, z: SpanMut<f32, (u32,)>) {
//!     let (x, y, z) = (x.partition(cx, shape![256]), y.partition(cx, shape![256]), z.partition(cx, shape![256]));
//!     let i = cx.bid::<0>();
//!     z.store_masked(x.load_masked(Zero, i) + y.load_masked(Zero, i), i);
//! }
//!
//! /// `out = x + y`.
//! #[export]
//! fn vector_add(
//!     call: &Call,
//!     x: TensorView<f32, 1>,
//!     y: TensorView<f32, 1>,
//!     out: TensorViewMut<f32, 1>,
//! ) -> Result<()> {
//!     // For GPUs, first: call.device().load(&KERNELS)?;
//!     add.launch_on(call.stream(), Grid::cover(out.shape(), [256]), (x, y, out))
//! }
//! ```
//!
//! In Python:
//!
//! ```python
//! import torch, tvm_ffi
//!
//! kernels = tvm_ffi.load_module("target/release/libmy_kernels.so")
//! x, y = torch.rand(1000), torch.rand(1000)
//! out = torch.empty_like(x)
//! kernels.vector_add(x, y, out)
//! ```
//!
//! # What is checked
//! The number of arguments; of each its type; of tensors the type of elements, the number of axes, the device (one for all), strides,
//! alignment, and that memory which the function writes is no other argument's. What does not fit is an exception of Python that
//! names function and argument. Errors of launches are exceptions too, with the same text as in Rust, and so are panics, where
//! the profile has not set `panic = "abort"`.
//!
//! Not known here is whether an array may be written: TVM-FFI drops DLPack's flag for that.
//!
//! # Devices
//! CUDA tensors mean [`Device::gpu`](cuda_tiles_host::Device::gpu) of their number. Tensors of the CPU, pinned ones too, mean the CPU,
//! where kernels run as they do in tests. A trap on a GPU, as after a failed check in a kernel, ends its use by the whole process,
//! PyTorch's too.
//!
//! # What the caller vouches for
//! Calls from Python are foreign code, which Rust cannot check. Who calls an exported function vouches for the memory of tensors, from
//! the first to the last element: that it is there, holds values, and is used by nobody else during the call but in the order of the
//! stream. TVM-FFI and the libraries behind DLPack do that, unless a program writes to a tensor from another thread or stream meanwhile.

mod abi;
mod arguments;
mod call;
mod element;
mod entry;
mod error;
mod parameter;
mod returned;
mod runtime;
mod tensor;
mod value;

#[cfg(test)]
extern crate self as cuda_tiles_ffi;
#[cfg(test)]
mod tests;

pub use call::Call;
pub use cuda_tiles_ffi_macros::export;
pub use cuda_tiles_host::dlpack::DlpackElement;
pub use cuda_tiles_host::{TensorView, TensorViewMut};
pub use error::{Exception, ExceptionKind};
pub use parameter::Parameter;
pub use returned::Returned;

/// What [`export`] expands to. Not for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::abi::Any;
    pub use crate::arguments::Arguments;
    pub use crate::entry::{Handle, enter};
    pub use crate::error::Function;
}
