//! Layer norm and RMS norm.

use std::sync::OnceLock;

use candle_core::Tensor;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_host::{TensorViewMut, workspace};
use cuda_tiles_kernels::rows::{self, RowElement};

use super::by_type;
use super::kernels::ready_made;
use crate::{Apply, Call, Element, Finished, Input, Operation, Result, compute};

/// Layer normalisation along the last axis, of `f32`, `f16` or `bf16`, computed in `f32`:
/// `(x - mean) / sqrt(variance + epsilon) * weight + bias`. As [`candle_nn::ops::layer_norm`](https://docs.rs/candle-nn), with gradients.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
///
/// let x = Tensor::new(&[[1.0_f32, 2.0, 3.0], [30.0, 20.0, 10.0]], &Device::Cpu)?;
/// let (weight, bias) = (Tensor::ones(3, DType::F32, &Device::Cpu)?, Tensor::new(&[0.0_f32, 5.0, 0.0], &Device::Cpu)?);
/// let y = cuda_tiles_candle::layer_norm(&x, &weight, &bias, 1e-5)?.to_vec2::<f32>()?;
/// assert!((y[0][0] + 1.2247).abs() < 1e-4 && y[1][1] == 5.0);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// If weight and bias do not have a number for each element of a row, `epsilon` is negative, or the elements are of another type; and the errors
/// of launches, as for tensors of 2³² elements and more.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> candle_core::Result<Tensor> {
    let operands = [&x.contiguous()?, &weight.contiguous()?, &bias.contiguous()?];
    Norm::new(&operands, epsilon).apply(operands)
}

/// Normalisation along the last axis by the root mean square, of `f32`, `f16` or `bf16`, computed in `f32`:
/// `x / sqrt(mean of x² + epsilon) * weight`. As [`candle_nn::ops::rms_norm`](https://docs.rs/candle-nn), with gradients.
///
/// ```
/// use candle_core::{Device, Tensor};
///
/// let x = Tensor::new(&[[3.0_f32, 4.0, 0.0, 0.0]], &Device::Cpu)?;
/// let weight = Tensor::new(&[1.0_f32, 10.0, 1.0, 1.0], &Device::Cpu)?;
/// let y = cuda_tiles_candle::rms_norm(&x, &weight, 0.0)?.to_vec2::<f32>()?;
/// assert!((y[0][0] - 1.2).abs() < 1e-6 && (y[0][1] - 16.0).abs() < 1e-5);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// As [`layer_norm`].
pub fn rms_norm(x: &Tensor, weight: &Tensor, epsilon: f32) -> candle_core::Result<Tensor> {
    let operands = [&x.contiguous()?, &weight.contiguous()?];
    Norm::new(&operands, epsilon).apply(operands)
}

/// RMS norm as an operation on two tensors, layer norm as one on three.
struct Norm {
    epsilon: f32,
    /// Whether there may be a gradient.
    is_tracked: bool,
    statistics: OnceLock<Statistics>,
}

/// What the gradient needs of each row: a number for each, of `f32`.
struct Statistics {
    /// Without elements for RMS norm.
    mean: Tensor,
    reciprocal_deviation: Tensor,
}

impl Norm {
    fn new(operands: &[&Tensor], epsilon: f32) -> Self {
        let is_tracked = operands.iter().any(|operand| operand.track_op());
        Self { epsilon, is_tracked, statistics: OnceLock::new() }
    }

    fn forward<T: Element + RowElement>(
        &self,
        call: &Call<'_>,
        [x, weight]: [Input<'_>; 2],
        bias: Option<Input<'_>>,
    ) -> Result<Finished> {
        let mut y = call.output::<T>(x.dims())?;
        let (x, weight) = (x.hold::<T>()?, weight.hold::<T>()?);
        let bias = bias.map(|bias| bias.hold::<T>()).transpose()?;
        let bias = bias.as_ref().map(|bias| bias.view::<1>()).transpose()?;
        let (x, weight, stream) = (x.flattened::<2>()?, weight.view::<1>()?, call.stream());
        let [rows, _] = x.shape();
        let means = if bias.is_some() { rows } else { 0 };
        call.load(&ready_made::KERNELS)?;
        let result = y.flattened::<2>()?;
        let launch =
            |mean: TensorViewMut<'_, f32, 1>, reciprocal_deviation: TensorViewMut<'_, f32, 1>| match bias {
                Some(bias) => rows::layer_norm(
                    stream,
                    x,
                    weight,
                    bias,
                    self.epsilon,
                    result,
                    mean,
                    reciprocal_deviation,
                ),
                None => rows::rms_norm(stream, x, weight, self.epsilon, result, reciprocal_deviation),
            };
        if self.is_tracked {
            let (mut mean, mut reciprocal_deviation) = (call.output(means)?, call.output(rows)?);
            launch(mean.elements(), reciprocal_deviation.elements())?;
            let [mean, reciprocal_deviation] = [mean, reciprocal_deviation].map(|x| x.finish().into_tensor());
            // An operation is applied once, by the functions above.
            let _ = self.statistics.set(Statistics { mean, reciprocal_deviation });
        } else {
            workspace(stream, [means], |mean| {
                workspace(stream, [rows], |reciprocal_deviation| launch(mean, reciprocal_deviation))
            })?;
        }
        Ok(y.finish())
    }

    fn statistics(&self, op: &'static str) -> candle_core::Result<&Statistics> {
        self.statistics.get().ok_or(candle_core::Error::BackwardNotSupported { op })
    }
}

impl Operation<3> for Norm {
    fn name(&self) -> &'static str {
        "layer norm"
    }

    fn forward(&self, call: &Call<'_>, [x, weight, bias]: [Input<'_>; 3]) -> Result<Finished> {
        by_type!("layer norm", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => self.forward::<T>(call, [x, weight], Some(bias)))
    }

    fn backward(
        &self,
        [x, weight, _]: [&Tensor; 3],
        _: &Tensor,
        dy: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        fn gradients<T: Element + RowElement>(
            call: &Call<'_>,
            inputs: [Input<'_>; 5],
        ) -> Result<[Finished; 3]> {
            let [x, weight, mean, reciprocal_deviation, dy] = inputs;
            let (mut dx, [mut dweight, mut dbias]) = (
                call.output::<T>(x.dims())?,
                [call.output::<T>(weight.dims())?, call.output::<T>(weight.dims())?],
            );
            let (x, weight, dy) = (x.hold::<T>()?, weight.hold::<T>()?, dy.hold::<T>()?);
            let (mean, reciprocal_deviation) = (mean.hold()?, reciprocal_deviation.hold()?);
            call.load(&ready_made::KERNELS)?;
            rows::layer_norm_backward(
                call.stream(),
                x.flattened()?,
                weight.view()?,
                mean.view()?,
                reciprocal_deviation.view()?,
                dy.flattened()?,
                dx.flattened()?,
                dweight.elements(),
                dbias.elements(),
            )?;
            Ok([dx.finish(), dweight.finish(), dbias.finish()])
        }
        let name = Operation::<3>::name(self);
        let Statistics { mean, reciprocal_deviation } = self.statistics(name)?;
        let inputs = [x, weight, mean, reciprocal_deviation, &dy.contiguous()?];
        let results = compute(
            inputs,
            |call, inputs| by_type!("layer norm gradient", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => gradients::<T>(call, inputs)),
        )?;
        Ok(results.map(Some))
    }
}

impl Operation<2> for Norm {
    fn name(&self) -> &'static str {
        "RMS norm"
    }

    fn forward(&self, call: &Call<'_>, [x, weight]: [Input<'_>; 2]) -> Result<Finished> {
        by_type!("RMS norm", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => self.forward::<T>(call, [x, weight], None))
    }

    fn backward(
        &self,
        [x, weight]: [&Tensor; 2],
        _: &Tensor,
        dy: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 2]> {
        fn gradients<T: Element + RowElement>(
            call: &Call<'_>,
            inputs: [Input<'_>; 4],
        ) -> Result<[Finished; 2]> {
            let [x, weight, reciprocal_deviation, dy] = inputs;
            let (mut dx, mut dweight) = (call.output::<T>(x.dims())?, call.output::<T>(weight.dims())?);
            let (x, weight, dy) = (x.hold::<T>()?, weight.hold::<T>()?, dy.hold::<T>()?);
            let reciprocal_deviation = reciprocal_deviation.hold()?;
            call.load(&ready_made::KERNELS)?;
            rows::rms_norm_backward(
                call.stream(),
                x.flattened()?,
                weight.view()?,
                reciprocal_deviation.view()?,
                dy.flattened()?,
                dx.flattened()?,
                dweight.elements(),
            )?;
            Ok([dx.finish(), dweight.finish()])
        }
        let Statistics { reciprocal_deviation, .. } = self.statistics(Operation::<2>::name(self))?;
        let inputs = [x, weight, reciprocal_deviation, &dy.contiguous()?];
        let results = compute(
            inputs,
            |call, inputs| by_type!("RMS norm gradient", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => gradients::<T>(call, inputs)),
        )?;
        Ok(results.map(Some))
    }
}
