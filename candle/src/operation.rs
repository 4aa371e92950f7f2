//! Operations: kernels as candle's custom operations.

use candle_core::{CpuStorage, CustomOp1, CustomOp2, CustomOp3, Layout, Shape, Tensor};

#[cfg(feature = "cuda")]
use candle_core::CudaStorage;

use crate::call::Call;
use crate::error::Result;
use crate::input::Input;
use crate::output::Finished;

/// An operation on `INPUTS` tensors, one to three, whose result kernels compute. One function serves the CPU and GPUs.
///
/// See the [crate](crate) for an example.
pub trait Operation<const INPUTS: usize>: Send + Sync + 'static {
    /// The name, for messages.
    fn name(&self) -> &'static str;

    /// Launches the kernels, on the stream of the call.
    ///
    /// # Errors
    /// Whatever keeps the operation from being done: operands that do not go together, and the errors of launches.
    fn forward(&self, call: &Call<'_>, inputs: [Input<'_>; INPUTS]) -> Result<Finished>;

    /// The gradients by the inputs, of the gradient by the result. `None` is a gradient of zero. Most are operations themselves, on a gradient
    /// kernel.
    ///
    /// # Errors
    /// Without an implementation, [`BackwardNotSupported`](candle_core::Error::BackwardNotSupported).
    fn backward(
        &self,
        inputs: [&Tensor; INPUTS],
        result: &Tensor,
        gradient: &Tensor,
    ) -> candle_core::Result<[Option<Tensor>; INPUTS]> {
        let _ = (inputs, result, gradient);
        Err(candle_core::Error::BackwardNotSupported { op: self.name() })
    }
}

/// The application of an [`Operation`] to tensors.
pub trait Apply<const INPUTS: usize>: Operation<INPUTS> + Sized {
    /// Applies the operation. The tensors are on one device, and the result is there too.
    ///
    /// # Errors
    /// Those of [`Operation::forward`], as candle's error.
    fn apply(self, inputs: [&Tensor; INPUTS]) -> candle_core::Result<Tensor>;
}

/// An [`Operation`] as candle's [`CustomOp1`], [`CustomOp2`] or [`CustomOp3`]. [`Apply::apply`] makes one.
pub struct Custom<O>(pub O);

macro_rules! custom {
    ($inputs:literal $custom:ident $apply:ident $gradients:ty: $(($storage:ident $layout:ident $input:ident))*) => {
        impl<O: Operation<$inputs>> $custom for Custom<O> {
            fn name(&self) -> &'static str {
                self.0.name()
            }

            fn cpu_fwd(&self, $($storage: &CpuStorage, $layout: &Layout),*) -> candle_core::Result<(CpuStorage, Shape)> {
                let call = Call::on_cpu();
                let inputs = [$(Input::of_cpu($storage, $layout, call.stream())),*];
                self.0.forward(&call, inputs)?.on_cpu()
            }

            #[cfg(feature = "cuda")]
            fn cuda_fwd(&self, $($storage: &CudaStorage, $layout: &Layout),*) -> candle_core::Result<(CudaStorage, Shape)> {
                // candle has checked that all are on one device.
                let [device, ..] = [$(&$storage.device),*];
                let (call, stream) = (Call::on_cuda(device)?, device.cuda_stream());
                let inputs = [$(Input::of_cuda($storage, $layout, &stream, call.stream())),*];
                self.0.forward(&call, inputs)?.on_cuda()
            }

            fn bwd(&self, $($input: &Tensor,)* result: &Tensor, gradient: &Tensor) -> candle_core::Result<$gradients> {
                let [$($input),*] = self.0.backward([$($input),*], result, gradient)?;
                Ok(($($input),*))
            }
        }

        impl<O: Operation<$inputs>> Apply<$inputs> for O {
            fn apply(self, inputs: [&Tensor; $inputs]) -> candle_core::Result<Tensor> {
                let [$($input),*] = inputs;
                custom!(@call $apply self $($input)*)
            }
        }
    };
    (@call $apply:ident $operation:ident $first:ident $($input:ident)*) => {
        $first.$apply($($input,)* Custom($operation))
    };
}

custom!(1 CustomOp1 apply_op1 Option<Tensor>: (s1 l1 x1));
custom!(2 CustomOp2 apply_op2 (Option<Tensor>, Option<Tensor>): (s1 l1 x1) (s2 l2 x2));
custom!(3 CustomOp3 apply_op3 (Option<Tensor>, Option<Tensor>, Option<Tensor>): (s1 l1 x1) (s2 l2 x2) (s3 l3 x3));
