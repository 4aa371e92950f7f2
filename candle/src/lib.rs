//! Kernels of [`cuda_tiles`] as operations of [candle](candle_core), on the CPU and on CUDA.
//!
//! Ready-made: [`softmax_last_dim`], [`layer_norm`], [`rms_norm`], [`attention`] and, with the feature `gemm`, `linear`. They take the
//! arguments of candle's own operations, work on the memory and the stream of candle's tensors, and have gradients.
//!
//! # An operation of your own
//! One implementation of [`Operation`] launches a kernel for either device; its gradient is an operation too.
//!
//! ```
//! use candle_core::{Device, Tensor, Var};
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_candle::{Apply, Call, Finished, Input, Operation, Result};
//! use cuda_tiles_host::{Grid, Launch};
//!
//! // In a crate of kernels, which the build script compiles for GPUs:
//! #[kernel]
//! fn scale(cx: Cx, x: Span<f32, (u32,)>, factor: f32, y: SpanMut<f32, (u32,)>) {
//!     let (x, y) = (x.partition(cx, shape![256]), y.partition(cx, shape![256]));
//!     y.store_masked(x.load_masked(Zero, cx.bid::<0>()) * factor, cx.bid::<0>());
//! }
//!
//! #[derive(Clone, Copy)]
//! struct Scale(f32);
//!
//! impl Operation<1> for Scale {
//!     fn name(&self) -> &'static str {
//!         "scale"
//!     }
//!
//!     fn forward(&self, call: &Call<'_>, [x]: [Input<'_>; 1]) -> Result<Finished> {
//!         // call.load(&KERNELS)? for GPUs: what `include_kernels!` has defined.
//!         let (x, mut y) = (x.hold::<f32>()?, call.output::<f32>(x.dims())?);
//!         let x = x.flattened::<1>()?;
//!         scale.launch_on(call.stream(), Grid::cover(x.shape(), [256]), (x, self.0, y.elements()))?;
//!         Ok(y.finish())
//!     }
//!
//!     fn backward(&self, _: [&Tensor; 1], _: &Tensor, dy: &Tensor) -> candle_core::Result<[Option<Tensor>; 1]> {
//!         Ok([Some(self.apply([&dy.contiguous()?])?)])
//!     }
//! }
//!
//! let x = Var::new(&[[1.0_f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
//! let y = Scale(10.0).apply([&x])?;
//! assert_eq!(y.to_vec2::<f32>()?, [[10.0, 20.0], [30.0, 40.0]]);
//! let gradients = y.sqr()?.backward()?;
//! assert_eq!(gradients.get(&x).unwrap().to_vec2::<f32>()?, [[200.0, 400.0], [600.0, 800.0]]);
//!
//! // What the kernel does not take is an error that says so.
//! let told = Scale(10.0).apply([&x.t()?]).unwrap_err().to_string();
//! assert!(told.contains("cannot be walked as one"), "{told}");
//! # Ok::<(), candle_core::Error>(())
//! ```
//!
//! # Features
//! - `cuda`: tensors on GPUs. candle compiles its own kernels then, for which it wants CUDA's toolkit; ours need none. candle links to CUDA's
//!   libraries.
//! - `gemm`: `linear`.

mod call;
mod compute;
mod element;
mod error;
mod functions;
mod input;
mod layout;
mod operation;
mod output;
mod place;

pub use call::Call;
pub use compute::compute;
pub use element::Element;
pub use error::{Error, Result};
pub use functions::*;
pub use input::{Held, Input};
pub use operation::{Apply, Custom, Operation};
pub use output::{Finished, Output};
