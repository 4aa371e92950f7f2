//! Products of matrices, `c = activation(alpha a b + beta c + bias)`.
//!
//! On the host, [`gemm`] is one call for tensors of any size, majorness and padding; [`Options`] has what goes beyond the
//! plain product. On the device, [`product`] is the body of all its kernels, for kernels with an epilogue of one's own.
//!
//! # A product with an epilogue of one's own
//!
//! ```
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_kernels::gemm::{Transposed, product};
//!
//! /// `c = max(a b' / 8, 0)`, of tiles of 64 x 64 and 32 columns at a time.
//! #[kernel(threads = 128, producer = 32)]
//! pub fn scaled(
//!     roles: WarpRoles,
//!     a: TmaLoad<f16, Shape2<64, 32>>,
//!     b: TmaLoad<f16, Shape2<64, 32>>,
//!     c: TmaStore<f16, Shape2<64, 64>>,
//!     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 32>>, SharedTile<f16, Shape2<64, 32>>)>,
//!     #[shared] buffer: EpilogueBuffer<1>,
//! ) {
//!     product::<_, _, _, f32, _, _, _, _, _, _, _>(block, a, Transposed(b), c, ring, buffer, |_cx, sums, _tile| {
//!         (sums * 0.125).maximum(0.0).cast::<f16>()
//!     });
//! }
//! # #[cfg(feature = "host")]
//! # {
//! use cuda_tiles_host::{Device, Launch, Tensor};
//! let device = Device::cpu();
//! let a = Tensor::full(&device, [70, 40], f16::from_f32(0.5))?;
//! let b = Tensor::full(&device, [80, 40], f16::from_f32(2.0))?;
//! let mut c = Tensor::poisoned(&device, [70, 80])?;
//! // Any number of blocks shares the tiles of `c`: on a GPU, one for each multiprocessor.
//! scaled.launch(&device, device.multiprocessors(), (&a, &b, &mut c))?;
//! assert!(c.to_vec()?.iter().all(|&x| x == f16::from_f32(5.0)));
//! # }
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod body;
mod epilogue;
pub mod kernels;
pub mod narrow;
pub mod pack;
pub mod parts;
mod shares;
pub mod turned;
mod work;

#[cfg(feature = "host")]
mod host;

pub use body::{LeftSource, RightSource, Transposed, product};
pub use epilogue::{Activation, Sum};

#[cfg(feature = "host")]
pub use host::*;
