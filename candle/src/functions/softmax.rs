//! Softmax.

use candle_core::Tensor;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_kernels::rows::{self, RowElement};

use super::by_type;
use super::kernels::ready_made;
use crate::{Apply, Call, Element, Finished, Input, Operation, Result, compute};

/// Softmax along the last axis: of `f32`, `f16` or `bf16`, computed in `f32`. As
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
/// If the elements are of another type; and the errors of launches, as for tensors of 2³² elements and more.
pub fn softmax_last_dim(x: &Tensor) -> candle_core::Result<Tensor> {
    Softmax.apply([&x.contiguous()?])
}

struct Softmax;

impl Operation<1> for Softmax {
    fn name(&self) -> &'static str {
        "softmax"
    }

    fn forward(&self, call: &Call<'_>, [x]: [Input<'_>; 1]) -> Result<Finished> {
        fn forward<T: Element + RowElement>(call: &Call<'_>, x: Input<'_>) -> Result<Finished> {
            let (x, mut y) = (x.hold::<T>()?, call.output::<T>(x.dims())?);
            call.load(&ready_made::KERNELS)?;
            rows::softmax(call.stream(), x.flattened()?, y.flattened()?)?;
            Ok(y.finish())
        }
        by_type!("softmax", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T>(call, x))
    }

    fn backward(&self, _: [&Tensor; 1], y: &Tensor, dy: &Tensor) -> candle_core::Result<[Option<Tensor>; 1]> {
        fn gradient<T: Element + RowElement>(
            call: &Call<'_>,
            [y, dy]: [Input<'_>; 2],
        ) -> Result<[Finished; 1]> {
            let (y, dy, mut dx) = (y.hold::<T>()?, dy.hold::<T>()?, call.output::<T>(y.dims())?);
            call.load(&ready_made::KERNELS)?;
            rows::softmax_backward(call.stream(), y.flattened()?, dy.flattened()?, dx.flattened()?)?;
            Ok([dx.finish()])
        }
        let dx = compute(
            [y, &dy.contiguous()?],
            |call, inputs| by_type!("softmax gradient", y.dtype(); F32 f32, F16 f16, BF16 bf16; T => gradient::<T>(call, inputs)),
        )?;
        Ok(dx.map(Some))
    }
}
