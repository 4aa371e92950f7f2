//! The options of a product.

use cuda_tiles::element::Element;
use cuda_tiles_host::{Result, Stream, Tensor, TensorView, TensorViewMut};

use super::plan::Plan;
use crate::gemm::epilogue::{Activation, Scales, Sum};

/// A matrix multiplication with options: `c = activation(alpha a b + beta c + bias)`.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Tensor};
/// use cuda_tiles_kernels::gemm::{Activation, Gemm};
///
/// let device = Device::cpu();
/// let half = |x: f32| f16::from_f32(x);
/// let a = Tensor::full(&device, [5, 7], half(1.0))?;
/// let b = Tensor::full(&device, [7, 2], half(2.0))?;
/// let bias = Tensor::from_slice(&device, [2], &[half(-100.0), half(1.0)])?;
/// let mut c = Tensor::full(&device, [5, 2], half(3.0))?;
/// Gemm::new().alpha(0.5).beta(2.0).bias(&bias).activation(Activation::Relu).multiply(&a, &b, &mut c)?;
/// assert_eq!(c.to_vec()?[..2], [half(0.0), half(14.0)]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// `O` is the element type of `c` and of the bias. `C` is the type of the accumulators, of `alpha` and of `beta`.
///
/// # Shapes
///
/// As for [`gemm`]. The bias has one element for each column of `c`.
pub struct Gemm<'o, O: Element, C> {
    pub(super) alpha: C,
    pub(super) beta: C,
    pub(super) bias: Option<TensorView<'o, O, 1>>,
    pub(super) activation: Activation,
    pub(super) fast_accumulation: bool,
    pub(super) stream: Option<Stream>,
    pub(super) plan: Option<Plan>,
}

impl<O: Element, C: Sum> Default for Gemm<'_, O, C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'o, O: Element, C: Sum> Gemm<'o, O, C> {
    /// The plain product, `c = a b`.
    pub fn new() -> Self {
        Self {
            alpha: C::ONE,
            beta: C::ZERO,
            bias: None,
            activation: Activation::None,
            fast_accumulation: false,
            stream: None,
            plan: None,
        }
    }

    /// Multiplies the product by `alpha`. The default is 1.
    pub fn alpha(self, alpha: C) -> Self {
        Self { alpha, ..self }
    }

    /// Adds the previous elements of `c`, multiplied by `beta`. With the default of 0, `c` is not read.
    pub fn beta(self, beta: C) -> Self {
        Self { beta, ..self }
    }

    /// Adds a bias, one element for each column of `c`.
    pub fn bias(self, bias: impl Into<TensorView<'o, O, 1>>) -> Self {
        Self { bias: Some(bias.into()), ..self }
    }

    /// Whether 8-bit floats may accumulate in tensor cores alone, without promoted accumulation.
    ///
    /// The default is promoted accumulation: every 128 products are added to `f32` accumulators. Other types ignore this option.
    ///
    /// # On a GPU
    ///
    /// On GPUs of compute capability 9.0, tensor cores keep some 14 bits of the accumulators. Fast accumulation is somewhat faster there.
    pub fn fast_accumulation(self, fast_accumulation: bool) -> Self {
        Self { fast_accumulation, ..self }
    }

    /// Launches on this stream. The default is the device's default stream.
    pub fn on(self, stream: &Stream) -> Self {
        Self { stream: Some(stream.clone()), ..self }
    }

    /// Follows this plan, one of [`plans`](Self::plans). The default is the plan that is expected to be the fastest.
    pub fn plan(self, plan: Plan) -> Self {
        Self { plan: Some(plan), ..self }
    }
}

impl<O: Element> Gemm<'_, O, f32> {
    /// Applies a function to each element of the result.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }
}

impl<O: Element, C: Sum> Gemm<'_, O, C> {
    /// The numbers of the epilogue.
    pub(super) fn scales(&self) -> Scales<C> {
        Scales::new(self.alpha, self.beta, self.activation)
    }

    /// The stream for a product.
    pub(super) fn stream_for(&self, c: &TensorViewMut<'_, O, 3>) -> Stream {
        match &self.stream {
            Some(stream) => stream.clone(),
            None => c.device().default_stream(),
        }
    }

    /// Calls `body` with the bias, or with an empty tensor if there is no bias.
    pub(super) fn with_bias<R>(
        &self,
        stream: &Stream,
        body: impl FnOnce(TensorView<'_, O, 1>) -> Result<R>,
    ) -> Result<R> {
        match &self.bias {
            Some(bias) => body(*bias),
            None => body(Tensor::zeros(&stream.device(), [0])?.view()),
        }
    }
}
