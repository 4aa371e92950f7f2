//! Kernels on any number of tensors, with any number of results.

use candle_core::{Storage, Tensor};

use crate::call::Call;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::output::Finished;

/// Launches kernels on any number of tensors, which are on one device, and returns any number of results. candle records no gradient of it:
/// inside of [`Operation::backward`](crate::Operation::backward), where kernels have several results, nobody asks for one.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use cuda_tiles_candle::compute;
/// use cuda_tiles_kernels::rows;
///
/// let x = Tensor::new(&[[7.0_f32, 1.0], [3.0, 4.0]], &Device::Cpu)?;
/// let weight = Tensor::new(&[1.0_f32, 10.0], &Device::Cpu)?;
/// let [y, r] = compute([&x, &weight], |call, [x, weight]| {
///     let (mut y, mut r) = (call.output::<f32>(x.dims())?, call.output::<f32>(2)?);
///     let (x, weight) = (x.hold::<f32>()?, weight.hold::<f32>()?);
///     rows::rms_norm(call.stream(), x.view()?, weight.view()?, 0.0, y.flattened()?, r.elements())?;
///     Ok([y.finish(), r.finish()])
/// })?;
/// assert_eq!(r.to_vec1::<f32>()?[0], 0.2);
/// assert_eq!(y.to_vec2::<f32>()?[0], [1.4, 2.0]);
/// # Ok::<(), candle_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Operands`](crate::Error::Operands) if the tensors are on different devices, or on one that has no kernels; and the errors of `body`.
pub fn compute<const INPUTS: usize, const RESULTS: usize>(
    inputs: [&Tensor; INPUTS],
    body: impl FnOnce(&Call<'_>, [Input<'_>; INPUTS]) -> Result<[Finished; RESULTS]>,
) -> candle_core::Result<[Tensor; RESULTS]> {
    const { assert!(INPUTS > 0, "the first tensor says on which device the kernels run") };
    let device = inputs[0].device();
    if !inputs.iter().all(|input| input.device().same_device(device)) {
        return Err(elsewhere("the tensors are on different devices"));
    }
    let stored = inputs.map(Tensor::storage_and_layout);
    let results = match &*stored[0].0 {
        Storage::Cpu(_) => {
            let call = Call::on_cpu();
            let inputs = stored.each_ref().map(|(storage, layout)| match &**storage {
                Storage::Cpu(storage) => Input::of_cpu(storage, layout, call.stream()),
                _ => unreachable!("all are on one device"),
            });
            body(&call, inputs)?
        }
        #[cfg(feature = "cuda")]
        Storage::Cuda(first) => {
            let (call, stream) = (Call::on_cuda(&first.device)?, first.device.cuda_stream());
            let inputs = stored.each_ref().map(|(storage, layout)| match &**storage {
                Storage::Cuda(storage) => Input::of_cuda(storage, layout, &stream, call.stream()),
                _ => unreachable!("all are on one device"),
            });
            body(&call, inputs)?
        }
        _ => {
            return Err(elsewhere(
                "there are kernels for the CPU, and with the feature `cuda` for NVIDIA's GPUs",
            ));
        }
    };
    Ok(results.map(Finished::into_tensor))
}

/// The error of tensors on devices that do not do.
fn elsewhere(problem: &str) -> candle_core::Error {
    Error::Operands { operation: "compute", problem: problem.to_owned() }.into()
}
