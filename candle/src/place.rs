//! candle's side of a device.

#[cfg(feature = "cuda")]
use candle_core::CudaDevice;

/// Where candle allocates.
#[derive(Clone, Copy)]
pub(crate) enum Place<'call> {
    /// The lifetime has a use in builds for GPUs alone.
    Cpu(std::marker::PhantomData<&'call ()>),
    #[cfg(feature = "cuda")]
    Cuda(&'call CudaDevice),
}
