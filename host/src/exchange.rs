//! Tensors from and to other libraries in the same process: DLPack, the CUDA Array Interface, `ndarray`.

#[cfg(feature = "ndarray")]
mod arrays;
#[cfg(feature = "cuda-array-interface")]
pub mod cuda_array;
#[cfg(feature = "dlpack")]
pub mod dlpack;
#[cfg(any(feature = "dlpack", feature = "cuda-array-interface"))]
mod foreign;

#[cfg(any(feature = "dlpack", feature = "cuda-array-interface"))]
pub use foreign::{ExchangeError, ReadOnlyTensor};
