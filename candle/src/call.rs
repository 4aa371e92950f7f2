//! A call of an operation: where it is done.

use cuda_tiles_host::{Artifact, Device, Stream};

use crate::element::Element;
use crate::error::Result;
use crate::output::Output;
use crate::place::Place;

#[cfg(feature = "cuda")]
use candle_core::CudaDevice;

/// Where an operation is done: the device and the stream of its operands.
pub struct Call<'call> {
    stream: Stream,
    place: Place<'call>,
}

impl<'call> Call<'call> {
    /// On candle's CPU.
    pub(crate) fn on_cpu() -> Self {
        Self { stream: Device::cpu().default_stream(), place: Place::Cpu(std::marker::PhantomData) }
    }

    /// On a GPU of candle's, and its stream.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_cuda(device: &'call CudaDevice) -> Result<Self> {
        Ok(Self { stream: Stream::from_cudarc(&device.cuda_stream())?, place: Place::Cuda(device) })
    }

    /// The stream that candle works on. Launch on it: what candle does before and after is in its order.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The device that candle works on.
    pub fn device(&self) -> Device {
        self.stream.device()
    }

    /// Makes kernels known to the GPU: what [`cuda_tiles_host::include_kernels!`] has defined. It is quick when it was done before. On the CPU
    /// there is nothing to do.
    ///
    /// # Errors
    /// As of [`Device::load`].
    pub fn load(&self, kernels: &'static Artifact) -> Result<()> {
        Ok(self.device().load(kernels)?)
    }

    /// Memory for a result of this shape, in row-major order. The kernel writes all of its elements: on a GPU they are undefined before.
    ///
    /// # Errors
    /// [`Error::Candle`](crate::Error::Candle) if there is no room.
    pub fn output<T: Element>(&self, shape: impl Into<candle_core::Shape>) -> Result<Output<T>> {
        Output::new(&self.stream, self.place, shape.into())
    }
}
