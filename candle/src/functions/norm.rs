//! Layer norm and RMS norm.

use candle_core::Tensor;
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_candle_kernels::norm;
use cuda_tiles_host::{Launch, Stream, TensorView, TensorViewMut};

use super::kernels::own;
use super::{blocks, by_type, refuse};
use crate::{Apply, Call, Element, Finished, Input, Operation, Result};

/// The longest row: what a block holds.
const LONGEST: usize = 8192;

/// The longest row of the kernels for shorter ones.
const SHORTER: usize = 2048;

/// Blocks of the kernel that sums up the gradient of the weight, for each multiprocessor.
const BLOCKS_OF_SUMS: usize = 2;

/// Layer normalisation along the last axis, of at most 8192 elements of `f32`, `f16` or `bf16`, computed in `f32`:
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
/// If weight and bias do not have a number for each element of a row, rows are longer, or the elements of another type; and the errors of
/// launches.
pub fn layer_norm(x: &Tensor, weight: &Tensor, bias: &Tensor, epsilon: f32) -> candle_core::Result<Tensor> {
    LayerNorm { epsilon }.apply([&x.contiguous()?, &weight.contiguous()?, &bias.contiguous()?])
}

/// Normalisation along the last axis by the root mean square, of at most 8192 elements of `f32`, `f16` or `bf16`, computed in `f32`:
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
    RmsNorm { epsilon }.apply([&x.contiguous()?, &weight.contiguous()?])
}

/// Types that have kernels for rows of any length. `CENTRED` is layer norm, the other one RMS norm.
trait Rows: Element {
    fn layer_norm(
        stream: &Stream,
        blocks: u32,
        operands: (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>, TensorView<'_, Self, 1>),
        epsilon: f32,
        y: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;

    fn rms_norm(
        stream: &Stream,
        blocks: u32,
        operands: (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>),
        epsilon: f32,
        y: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;

    fn gradient<const CENTRED: bool>(
        stream: &Stream,
        blocks: u32,
        operands: (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>, TensorView<'_, Self, 2>),
        epsilon: f32,
        dx: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;

    fn weight_gradient<const CENTRED: bool>(
        stream: &Stream,
        blocks: u32,
        operands: (TensorView<'_, Self, 2>, TensorView<'_, Self, 2>),
        epsilon: f32,
        partial: TensorViewMut<'_, f32, 2>,
    ) -> Result<()>;
}

macro_rules! rows {
    ($($type:ident)*) => { $(
        impl Rows for $type {
            fn layer_norm(
                stream: &Stream,
                blocks: u32,
                (x, weight, bias): (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>, TensorView<'_, Self, 1>),
                epsilon: f32,
                y: TensorViewMut<'_, Self, 2>,
            ) -> Result<()> {
                let kernel = match x.shape()[1] {
                    ..=SHORTER => norm::layer_norm::<$type, SHORTER>(),
                    _ => norm::layer_norm::<$type, LONGEST>(),
                };
                Ok(kernel.launch_on(stream, blocks, (x, weight, bias, epsilon, y))?)
            }

            fn rms_norm(
                stream: &Stream,
                blocks: u32,
                (x, weight): (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>),
                epsilon: f32,
                y: TensorViewMut<'_, Self, 2>,
            ) -> Result<()> {
                let kernel = match x.shape()[1] {
                    ..=SHORTER => norm::rms_norm::<$type, SHORTER>(),
                    _ => norm::rms_norm::<$type, LONGEST>(),
                };
                Ok(kernel.launch_on(stream, blocks, (x, weight, epsilon, y))?)
            }

            fn gradient<const CENTRED: bool>(
                stream: &Stream,
                blocks: u32,
                (x, weight, dy): (TensorView<'_, Self, 2>, TensorView<'_, Self, 1>, TensorView<'_, Self, 2>),
                epsilon: f32,
                dx: TensorViewMut<'_, Self, 2>,
            ) -> Result<()> {
                let kernel = match CENTRED {
                    true => norm::norm_gradient::<$type, LONGEST, true>(),
                    false => norm::norm_gradient::<$type, LONGEST, false>(),
                };
                Ok(kernel.launch_on(stream, blocks, (x, weight, dy, epsilon, dx))?)
            }

            fn weight_gradient<const CENTRED: bool>(
                stream: &Stream,
                blocks: u32,
                (x, dy): (TensorView<'_, Self, 2>, TensorView<'_, Self, 2>),
                epsilon: f32,
                partial: TensorViewMut<'_, f32, 2>,
            ) -> Result<()> {
                let kernel = match CENTRED {
                    true => norm::norm_weight_gradient::<$type, LONGEST, true>(),
                    false => norm::norm_weight_gradient::<$type, LONGEST, false>(),
                };
                Ok(kernel.launch_on(stream, blocks, (x, dy, epsilon, partial))?)
            }
        }
    )* };
}

rows!(f32 f16 bf16);

/// Refuses rows that are too long, and parameters that do not have a number for each element of a row.
fn check(operation: &'static str, x: Input<'_>, parameters: &[Input<'_>]) -> Result<()> {
    let columns = x.dims().last().copied().unwrap_or(1);
    if columns > LONGEST {
        return refuse(
            operation,
            format!("there are kernels for rows of up to {LONGEST} elements, and these have {columns}"),
        );
    }
    match parameters.iter().find(|parameter| parameter.dims() != [columns]) {
        Some(parameter) => refuse(
            operation,
            format!("rows have {columns} elements, but a parameter has shape {:?}", parameter.dims()),
        ),
        None => Ok(()),
    }
}

/// The gradients by `x` and by the weight.
fn gradients<const CENTRED: bool>(
    x: &Tensor,
    weight: &Tensor,
    dy: &Tensor,
    epsilon: f32,
) -> candle_core::Result<(Tensor, Tensor)> {
    let dy = dy.contiguous()?;
    let dx = NormGradient::<CENTRED> { epsilon }.apply([x, weight, &dy])?;
    let partial = NormWeightGradient::<CENTRED> { epsilon }.apply([x, &dy])?;
    Ok((dx, partial.sum(0)?.to_dtype(weight.dtype())?))
}

struct LayerNorm {
    epsilon: f32,
}

impl Operation<3> for LayerNorm {
    fn name(&self) -> &'static str {
        "layer norm"
    }

    fn forward(&self, call: &Call<'_>, [x, weight, bias]: [Input<'_>; 3]) -> Result<Finished> {
        fn forward<T: Rows>(
            call: &Call<'_>,
            [x, weight, bias]: [Input<'_>; 3],
            epsilon: f32,
        ) -> Result<Finished> {
            let mut y = call.output::<T>(x.dims())?;
            let (x, weight, bias) = (x.hold::<T>()?, weight.hold::<T>()?, bias.hold::<T>()?);
            let x = x.flattened::<2>()?;
            if !y.is_empty() {
                call.load(&own::KERNELS)?;
                let (blocks, operands) =
                    (blocks("layer norm", x.shape()[0])?, (x, weight.view()?, bias.view()?));
                T::layer_norm(call.stream(), blocks, operands, epsilon, y.flattened()?)?;
            }
            Ok(y.finish())
        }
        check("layer norm", x, &[weight, bias])?;
        by_type!("layer norm", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T>(call, [x, weight, bias], self.epsilon))
    }

    fn backward(
        &self,
        [x, weight, _]: [&Tensor; 3],
        _: &Tensor,
        dy: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        let (dx, weight_gradient) = gradients::<true>(x, weight, dy, self.epsilon)?;
        let rows = dy.flatten_to(dy.rank().saturating_sub(2))?;
        let bias_gradient = if dy.rank() > 1 { rows.sum(0)? } else { dy.clone() };
        Ok([Some(dx), Some(weight_gradient), Some(bias_gradient)])
    }
}

struct RmsNorm {
    epsilon: f32,
}

impl Operation<2> for RmsNorm {
    fn name(&self) -> &'static str {
        "RMS norm"
    }

    fn forward(&self, call: &Call<'_>, [x, weight]: [Input<'_>; 2]) -> Result<Finished> {
        fn forward<T: Rows>(call: &Call<'_>, [x, weight]: [Input<'_>; 2], epsilon: f32) -> Result<Finished> {
            let mut y = call.output::<T>(x.dims())?;
            let (x, weight) = (x.hold::<T>()?, weight.hold::<T>()?);
            let x = x.flattened::<2>()?;
            if !y.is_empty() {
                call.load(&own::KERNELS)?;
                let blocks = blocks("RMS norm", x.shape()[0])?;
                T::rms_norm(call.stream(), blocks, (x, weight.view()?), epsilon, y.flattened()?)?;
            }
            Ok(y.finish())
        }
        check("RMS norm", x, &[weight])?;
        by_type!("RMS norm", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T>(call, [x, weight], self.epsilon))
    }

    fn backward(
        &self,
        [x, weight]: [&Tensor; 2],
        _: &Tensor,
        dy: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 2]> {
        let (dx, weight_gradient) = gradients::<false>(x, weight, dy, self.epsilon)?;
        Ok([Some(dx), Some(weight_gradient)])
    }
}

/// The gradient by `x`.
struct NormGradient<const CENTRED: bool> {
    epsilon: f32,
}

impl<const CENTRED: bool> Operation<3> for NormGradient<CENTRED> {
    fn name(&self) -> &'static str {
        "norm gradient"
    }

    fn forward(&self, call: &Call<'_>, [x, weight, dy]: [Input<'_>; 3]) -> Result<Finished> {
        fn forward<T: Rows, const CENTRED: bool>(
            call: &Call<'_>,
            [x, weight, dy]: [Input<'_>; 3],
            epsilon: f32,
        ) -> Result<Finished> {
            let mut dx = call.output::<T>(x.dims())?;
            let (x, weight, dy) = (x.hold::<T>()?, weight.hold::<T>()?, dy.hold::<T>()?);
            let x = x.flattened::<2>()?;
            if !dx.is_empty() {
                call.load(&own::KERNELS)?;
                let blocks = blocks("norm gradient", x.shape()[0])?;
                let operands = (x, weight.view()?, dy.flattened()?);
                T::gradient::<CENTRED>(call.stream(), blocks, operands, epsilon, dx.flattened()?)?;
            }
            Ok(dx.finish())
        }
        by_type!("norm gradient", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T, CENTRED>(call, [x, weight, dy], self.epsilon))
    }
}

/// The gradient by the weight, as sums that are still to be added up: a row for each block.
struct NormWeightGradient<const CENTRED: bool> {
    epsilon: f32,
}

impl<const CENTRED: bool> Operation<2> for NormWeightGradient<CENTRED> {
    fn name(&self) -> &'static str {
        "norm weight gradient"
    }

    fn forward(&self, call: &Call<'_>, [x, dy]: [Input<'_>; 2]) -> Result<Finished> {
        fn forward<T: Rows, const CENTRED: bool>(
            call: &Call<'_>,
            [x, dy]: [Input<'_>; 2],
            epsilon: f32,
        ) -> Result<Finished> {
            let (x, dy) = (x.hold::<T>()?, dy.hold::<T>()?);
            let x = x.flattened::<2>()?;
            let [rows, columns] = x.shape();
            let blocks = (call.device().multiprocessors() as usize * BLOCKS_OF_SUMS).min(rows).max(1);
            let mut partial = call.output::<f32>((blocks, columns))?;
            if !partial.is_empty() {
                call.load(&own::KERNELS)?;
                let operands = (x, dy.flattened()?);
                T::weight_gradient::<CENTRED>(
                    call.stream(),
                    blocks as u32,
                    operands,
                    epsilon,
                    partial.flattened()?,
                )?;
            }
            Ok(partial.finish())
        }
        by_type!("norm weight gradient", x.dtype(); F32 f32, F16 f16, BF16 bf16; T => forward::<T, CENTRED>(call, [x, dy], self.epsilon))
    }
}
