//! A call: what its exported function is told of it.

use std::fmt;

use cuda_tiles_host::{Device, Stream};

use crate::abi::{DLDevice, device_type};
use crate::error::Problem;
use crate::runtime;

/// Where a call from Python works: the device of its tensors, and the stream that the caller works on there.
///
/// A call without tensors is on the CPU.
pub struct Call {
    device: Device,
    stream: Stream,
}

impl Call {
    /// The device of the call's tensors. A GPU is opened by the first call that has tensors on it, and stays open.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The caller's stream, for [`Launch::launch_on`](cuda_tiles_host::Launch::launch_on): work given to it runs after the caller's work so
    /// far, and before what the caller does next. It is PyTorch's current stream for PyTorch's tensors, else the one that
    /// `tvm_ffi.use_torch_stream` or `tvm_ffi.use_raw_stream` has set, else CUDA's default stream.
    ///
    /// The stream belongs to the caller. Do not keep a clone of it after the call.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The call on the device of a tensor, or on the CPU.
    pub(crate) fn on(place: Option<DLDevice>) -> Result<Self, Failure> {
        let Some(place @ DLDevice { device_type: device_type::CUDA, device_id }) = place else {
            let device = Device::cpu();
            let stream = device.default_stream();
            return Ok(Self { device, stream });
        };
        // A negative number is that of no GPU, and so is the greatest.
        let device = Device::gpu(usize::try_from(device_id).unwrap_or(usize::MAX))?;
        let handle = runtime::current_stream(place);
        if handle.addr() == PER_THREAD_STREAM {
            return Err(Problem::PerThreadStream.into());
        }
        // SAFETY: TVM-FFI hands out the stream that the caller has set for this GPU, which is a `cudaStream_t` of the CUDA runtime
        // and so of the primary context, or null. It is not the per-thread default stream. That it outlives the call is part of what
        // callers of exported functions vouch for, and `Call::stream` forbids to keep it longer.
        let stream = unsafe { device.borrow_stream(handle) };
        Ok(Self { device, stream })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Call on {}", self.device)
    }
}

/// `cudaStreamPerThread`, a handle that means another stream on each thread.
const PER_THREAD_STREAM: usize = 2;

/// Why a call does not begin.
pub(crate) enum Failure {
    Problem(Problem),
    Host(cuda_tiles_host::Error),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<cuda_tiles_host::Error> for Failure {
    fn from(error: cuda_tiles_host::Error) -> Self {
        Self::Host(error)
    }
}
