//! Tensors from and to files: NumPy's `.npy` and `.npz`, safetensors, GGUF.
//!
//! | format | read | write | feature |
//! |---|---|---|---|
//! | `.npy` | [`Npy`] | [`write_npy`] | `npy` |
//! | `.npz`, compressed or not | [`Npz`] | | `npz` |
//! | safetensors, also in several files | [`SafeTensors`] | [`SafeTensorsWriter`] | `safetensors` |
//! | GGUF 2 and 3 | [`Gguf`] | | `gguf` |
//!
//! A file is opened by one of three functions. `open` keeps the file open and reads from it what is asked for; `open_mapped` maps
//! it into memory, which saves a copy and is `unsafe`, since others may change the file meanwhile; `from_bytes` takes a file that is in
//! memory already. What stands in front of the elements is read and checked when the file is opened, the elements when a tensor is asked for.
//!
//! A file may be truncated, damaged or malicious. What it claims is compared with what is there before anything is allocated or
//! read by it, and a [`FileError`] says where it lies: the file, the byte, the tensor, what is claimed and what is there.
//!
//! ```
//! # #[cfg(feature = "npy")] {
//! use cuda_tiles_host::files::{Npy, write_npy};
//! use cuda_tiles_host::{Device, Tensor};
//!
//! let device = Device::cpu();
//! let path = std::env::temp_dir().join(format!("cuda-tiles-{}.npy", std::process::id()));
//! let x = Tensor::from_slice(&device, [2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! write_npy(&path, x.view().transpose())?;
//! let y = Npy::open(&path)?.tensor::<f32, 2>(&device)?;
//! assert_eq!(y.to_vec()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
//! # std::fs::remove_file(&path)?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(feature = "gguf")]
mod gguf;
mod load;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npz")]
mod npz;
#[cfg(feature = "safetensors")]
mod safetensors;
mod source;

pub use error::FileError;
#[cfg(feature = "gguf")]
pub use gguf::{Dequantized, GgmlType, Gguf, GgufArray, GgufElement, GgufTensor, GgufValue};
#[cfg(feature = "npy")]
pub use npy::{Npy, write_npy};
#[cfg(feature = "npz")]
pub use npz::Npz;
#[cfg(feature = "safetensors")]
pub use safetensors::{SafeTensorInfo, SafeTensors, SafeTensorsElement, SafeTensorsWriter};

#[cfg(target_endian = "big")]
compile_error!(
    "elements of files are little-endian, and are read as they lie: this machine has another byte order"
);
