//! Products of matrices with a bias and an activation.

use candle_core::{DType, Tensor};
use cuda_tiles::element::{bf16, f16};
use cuda_tiles_host::{Stream, TensorView, TensorViewMut};
use cuda_tiles_kernels::gemm::{Activation, Gemm};

use super::kernels::ready_made;
use super::{by_type, refuse};
use crate::layout::flattened;
use crate::{Apply, Call, Element, Finished, Input, Operation, Result};

/// `activation(x weight' + bias)` along the last axis of `x`, of `f16`, `bf16` or, without an activation, `f64`. As
/// [`candle_nn::Linear`](https://docs.rs/candle-nn) and an activation behind it, in one kernel. The weight has a row for each element of the
/// result, and any strides.
///
/// The gradients by `x` and by the weight are products of the same kernels.
///
/// ```
/// use candle_core::{DType, Device, Tensor};
/// use cuda_tiles_candle::{Activation, linear};
///
/// let half = |x: Tensor| x.to_dtype(DType::F16);
/// let x = half(Tensor::new(&[[1.0_f32, 2.0]], &Device::Cpu)?)?;
/// let weight = half(Tensor::new(&[[1.0_f32, 1.0], [0.0, -4.0], [3.0, 0.5]], &Device::Cpu)?)?;
/// let bias = half(Tensor::new(&[0.5_f32, 1.0], &Device::Cpu)?)?;
/// assert!(linear(&x, &weight, Some(&bias), Activation::None).is_err(), "there are three results");
/// let y = linear(&x, &weight, None, Activation::Relu)?.to_dtype(DType::F32)?;
/// assert_eq!(y.to_vec2::<f32>()?, [[3.0, 0.0, 4.0]]);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// If the shapes do not go together, or the elements are of another type; and the errors of launches.
pub fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    activation: Activation,
) -> candle_core::Result<Tensor> {
    // Rows may have a pitch, and be columns: products take any strides of a matrix.
    let x = if flattened::<2>(x.layout()).is_ok() { x.clone() } else { x.contiguous()? };
    let operation = Linear { activation };
    match bias {
        Some(bias) => operation.apply([&x, weight, &bias.contiguous()?]),
        None => operation.apply([&x, weight]),
    }
}

#[derive(Clone, Copy)]
struct Linear {
    activation: Activation,
}

/// Types that have products.
trait Products: Element {
    fn multiply(
        stream: &Stream,
        linear: Linear,
        factors: (TensorView<'_, Self, 2>, TensorView<'_, Self, 2>),
        bias: Option<TensorView<'_, Self, 1>>,
        out: TensorViewMut<'_, Self, 2>,
    ) -> Result<()>;
}

macro_rules! products {
    ($($type:ident $sum:ident: |$product:ident, $linear:ident| $activated:expr;)*) => { $(
        impl Products for $type {
            fn multiply(
                stream: &Stream,
                $linear: Linear,
                (x, weight): (TensorView<'_, Self, 2>, TensorView<'_, Self, 2>),
                bias: Option<TensorView<'_, Self, 1>>,
                out: TensorViewMut<'_, Self, 2>,
            ) -> Result<()> {
                let $product = Gemm::<'_, $type, $sum>::new().on(stream);
                let activated: Result<Gemm<'_, $type, $sum>> = $activated;
                let product = match bias {
                    Some(bias) => activated?.bias(bias),
                    None => activated?,
                };
                Ok(product.multiply(x, weight.transpose(), out)?)
            }
        }
    )* };
}

products! {
    f16 f32: |product, linear| Ok(product.activation(linear.activation));
    bf16 f32: |product, linear| Ok(product.activation(linear.activation));
    f64 f64: |product, linear| match linear.activation {
        Activation::None => Ok(product),
        other => refuse("linear", format!("there is no kernel for f64 with the activation {other:?}: apply it by candle")),
    };
}

impl Linear {
    fn product(
        self,
        call: &Call<'_>,
        x: Input<'_>,
        weight: Input<'_>,
        bias: Option<Input<'_>>,
    ) -> Result<Finished> {
        fn product<T: Products>(
            linear: Linear,
            call: &Call<'_>,
            [x, weight]: [Input<'_>; 2],
            bias: Option<Input<'_>>,
        ) -> Result<Finished> {
            let mut shape = x.dims().to_vec();
            let (Some(last), [results, _]) = (shape.last_mut(), weight.dims()) else {
                let problem = format!(
                    "the weight is a matrix, and x has an axis: they have shapes {:?} and {:?}",
                    weight.dims(),
                    x.dims()
                );
                return refuse("linear", problem);
            };
            *last = *results;
            let mut out = call.output::<T>(shape)?;
            let (x, weight) = (x.hold::<T>()?, weight.hold::<T>()?);
            let bias = bias.map(|bias| bias.hold::<T>()).transpose()?;
            let bias = bias.as_ref().map(|bias| bias.view::<1>()).transpose()?;
            call.load(&ready_made::KERNELS)?;
            T::multiply(call.stream(), linear, (x.flattened()?, weight.view()?), bias, out.flattened()?)?;
            Ok(out.finish())
        }
        by_type!("linear", x.dtype(); F16 f16, BF16 bf16, F64 f64; T => product::<T>(self, call, [x, weight], bias))
    }

    /// The gradients by `x`, by the weight, and by the bias.
    fn gradients(
        self,
        x: &Tensor,
        weight: &Tensor,
        bias: Option<&Tensor>,
        result: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<[Tensor; 3]> {
        let sums = match self.activation {
            Activation::None => gradient.clone(),
            // The function of a sum is zero or positive where the sum is.
            Activation::Relu => (gradient * result.gt(0.0)?.to_dtype(gradient.dtype())?)?,
            other => {
                let sum = linear(x, weight, bias, Activation::None)?.to_dtype(DType::F32)?;
                (gradient.to_dtype(DType::F32)? * slope(other, &sum)?)?.to_dtype(gradient.dtype())?
            }
        };
        let matrix = |x: &Tensor| x.contiguous()?.reshape(((), x.dim(candle_core::D::Minus1)?));
        let (rows, sums_of_rows) = (matrix(x)?, matrix(&sums)?);
        let by_x = linear(&sums, &weight.t()?, None, Activation::None)?;
        let by_weight = Self { activation: Activation::None }.apply([&sums_of_rows.t()?, &rows.t()?])?;
        Ok([by_x, by_weight, sums_of_rows.sum(0)?])
    }
}

/// The derivative of an activation, of `f32`.
fn slope(activation: Activation, x: &Tensor) -> candle_core::Result<Tensor> {
    // Both are `x s(w)` with the logistic function `s`: the derivative is `s (1 + x w' (1 - s))`.
    let (w, w_slope) = match activation {
        Activation::Gelu => {
            let twice_root = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
            let square = x.sqr()?;
            let w = ((x * twice_root)? * square.affine(0.044715, 1.0)?)?;
            (w, square.affine(3.0 * 0.044715 * twice_root, twice_root)?)
        }
        _ => (x.clone(), x.ones_like()?),
    };
    let logistic = (w.neg()?.exp()? + 1.0)?.recip()?;
    let falling = logistic.affine(-1.0, 1.0)?;
    let inner = (((x * w_slope)? * falling)? + 1.0)?;
    logistic * inner
}

impl Operation<2> for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, call: &Call<'_>, [x, weight]: [Input<'_>; 2]) -> Result<Finished> {
        self.product(call, x, weight, None)
    }

    fn backward(
        &self,
        [x, weight]: [&Tensor; 2],
        result: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 2]> {
        let [by_x, by_weight, _] = self.gradients(x, weight, None, result, gradient)?;
        Ok([Some(by_x), Some(by_weight)])
    }
}

impl Operation<3> for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn forward(&self, call: &Call<'_>, [x, weight, bias]: [Input<'_>; 3]) -> Result<Finished> {
        self.product(call, x, weight, Some(bias))
    }

    fn backward(
        &self,
        [x, weight, bias]: [&Tensor; 3],
        result: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; 3]> {
        Ok(self.gradients(x, weight, Some(bias), result, gradient)?.map(Some))
    }
}
