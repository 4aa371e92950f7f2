//! Softmax.

use candle_core::Tensor;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_candle_kernels::softmax::softmax_gradient;
use cuda_tiles_host::{Launch, Stream, TensorView, TensorViewMut};
use cuda_tiles_kernels::softmax;

use super::kernels::{own, ready_made};
use super::{blocks, by_type, refuse};
use crate::{Apply, Call, Element, Finished, Input, Operation, Result};

/// The longest row: what a block holds.
const LONGEST: usize = 8192;

/// Softmax along the last axis, of at most 8192 elements: of `f32`, `f16` or `bf16`, computed in `f32`. As
/// [`candle_nn::ops::softmax_last_dim`](https://docs.rs/candle-nn), with a gradient.
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// let x = Tensor::new(&[[0.0_f32, 3.0_f32.ln()], [5.0, 5.0]], &Device::Cpu)?;
/// let y = cuda_tiles_candle::softmax_last_dim(&x)?.to_vec2::<f32>()?;
/// assert!((y[0][0] - 0.25).abs() < 1e-6 && y[1] == [0.5, 0.5]);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// If rows are longer, or the elements of another type; and the errors of launches.
pub fn softmax_last_dim(x: &Tensor) -> candle_core::Result<Tensor> {
    Softmax.apply([&x.contiguous()?])
}

/// Types that have kernels for rows of any length.
trait Rows: Element {
    fn softmax(
        stream: &Stream,
        blocks: u32,
        x: TensorView<'_, Self, 2>,
        y: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;

    fn gradient(
        stream: &Stream,
        blocks: u32,
        y: TensorView<'_, Self, 2>,
        dy: TensorView<'_, Self, 2>,
        dx: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;
}

macro_rules! rows {
    ($($type:ident $([up to $length:literal by $shorter:expr])? by $kernel:expr;)*) => { $(
        impl Rows for $type {
            fn softmax(stream: &Stream, blocks: u32, x: TensorView<'_, Self, 2>, y: TensorViewMut<'_, Self, 2>) -> Result<()> {
                $(if x.shape()[1] <= $length {
                    return Ok($shorter.launch_on(stream, blocks, (x, y))?);
                })?
                Ok($kernel.launch_on(stream, blocks, (x, y))?)
            }

            fn gradient(
                stream: &Stream,
                blocks: u32,
                y: TensorView<'_, Self, 2>,
                dy: TensorView<'_, Self, 2>,
                dx: TensorViewMut<'_, Self, 2>,
            ) -> Result<()> {
                Ok(softmax_gradient::<$type, LONGEST>().launch_on(stream, blocks, (y, dy, dx))?)
            }
        }
    )* };
}

rows! {
    f32 [up to 1024 by softmax::softmax_any::<1024>()] by softmax::softmax_any::<LONGEST>();
    f16 by softmax::softmax_any_half::<f16, LONGEST>();
    bf16 by softmax::softmax_any_half::<bf16, LONGEST>();
}

struct Softmax;

impl Operation<1> for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn forward(&self, call: &Call<'_>, [x]: [Input<'_>; 1]) -> Result<Finished> {
        fn forward<T: Rows>(call: &Call<'_>, x: Input<'_>) -> Result<Finished> {
            let (held, mut out) = (x.hold::<T>()?, call.output::<T>(x.dims())?);
            let x = held.flattened::<2>()?;
            let [rows, columns] = x.shape();
            if columns > LONGEST {
                return refuse(
                    "softmax",
                    format!(
                        "there are kernels for rows of up to {LONGEST} elements, and these have {columns}"
                    ),
                );
            }
            if !out.is_empty() {
                call.load(&ready_made::KERNELS)?;
                T::softmax(call.stream(), blocks("softmax", rows)?, x, out.flattened()?)?;
            }
            Ok(out.finish())
        }
        by_type!("softmax", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T>(call, x))
    }

    fn backward(&self, _: [&Tensor; 1], y: &Tensor, dy: &Tensor) -> candle_core::Result<[Option<Tensor>; 1]> {
        Ok([Some(SoftmaxGradient.apply([y, &dy.contiguous()?])?)])
    }
}

struct SoftmaxGradient;

impl Operation<2> for SoftmaxGradient {
    fn name(&self) -> &'static str {
        "softmax gradient"
    }

    fn forward(&self, call: &Call<'_>, [y, dy]: [Input<'_>; 2]) -> Result<Finished> {
        fn forward<T: Rows>(call: &Call<'_>, y: Input<'_>, dy: Input<'_>) -> Result<Finished> {
            let (y, dy, mut dx) = (y.hold::<T>()?, dy.hold::<T>()?, call.output::<T>(y.dims())?);
            let y = y.flattened::<2>()?;
            if !dx.is_empty() {
                call.load(&own::KERNELS)?;
                let blocks = blocks("softmax gradient", y.shape()[0])?;
                T::gradient(call.stream(), blocks, y, dy.flattened()?, dx.flattened()?)?;
            }
            Ok(dx.finish())
        }
        by_type!("softmax gradient", y.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T>(call, y, dy))
    }
}
