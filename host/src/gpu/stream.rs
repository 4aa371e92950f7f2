//! Streams and events of a GPU.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use cuda_tiles::launch::Description;
use cudarc::driver::sys::{self, CUevent_flags, CUlaunchAttributeID};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError};

use super::Gpu;
use super::failure::Launched;
use crate::error::Result;

/// A queue of work on a GPU. Clones are the same queue.
#[derive(Clone)]
pub(crate) struct GpuStream {
    queue: Arc<Queue>,
}

struct Queue {
    stream: Arc<CudaStream>,
    /// Recorded whenever another stream has to wait for all that this one has been given so far.
    marker: CudaEvent,
}

/// A point in the work of a stream, with its time.
pub(crate) struct GpuEvent {
    event: CudaEvent,
}

impl GpuStream {
    pub(super) fn new(context: &Arc<CudaContext>, stream: Arc<CudaStream>) -> Result<Self, DriverError> {
        let marker = context.new_event(None)?;
        Ok(Self { queue: Arc::new(Queue { stream, marker }) })
    }

    /// The driver's handle.
    pub(super) fn handle(&self) -> sys::CUstream {
        self.queue.stream.cu_stream()
    }

    /// The driver's stream.
    pub(super) fn driver_stream(&self) -> &CudaStream {
        &self.queue.stream
    }

    /// Whether both are the same queue.
    pub(crate) fn is(&self, other: &GpuStream) -> bool {
        Arc::ptr_eq(&self.queue, &other.queue)
    }

    /// Waits until all work given to this stream is done.
    pub(crate) fn synchronize(&self, gpu: &Gpu) -> Result<()> {
        gpu.check("waiting for a stream", self.queue.stream.synchronize())?;
        gpu.launches.forget(Some(self.handle() as usize));
        gpu.show_messages();
        Ok(())
    }

    /// Marks the end of the work given to this stream so far.
    pub(crate) fn record(&self, gpu: &Gpu) -> Result<GpuEvent> {
        let event =
            gpu.check("making an event", gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)))?;
        gpu.check("recording an event", event.record(&self.queue.stream))?;
        Ok(GpuEvent { event })
    }

    /// Lets work given to this stream from now on wait for the event. Does not block the caller.
    pub(crate) fn wait(&self, gpu: &Gpu, event: &GpuEvent) -> Result<()> {
        gpu.bind()?;
        gpu.check("waiting for an event", self.queue.stream.wait(&event.event))
    }

    /// Lets work given to this stream from now on wait for all that `other` has been given so far.
    pub(super) fn follow(&self, gpu: &Gpu, other: &GpuStream) -> Result<()> {
        if self.is(other) {
            return Ok(());
        }
        // Another thread may record the marker again between the two calls: then this stream waits for more than it
        // has to, never for less.
        gpu.check("recording an event", other.queue.marker.record(&other.queue.stream))?;
        gpu.check("waiting for another stream", self.queue.stream.wait(&other.queue.marker))
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// `parameters` holds one valid pointer for each PTX parameter of the kernel, to a value of its type; the memory
    /// that the values point to is the kernel's to use, in this stream's order, until the kernel has ended; the
    /// kernel's own contract is met.
    pub(crate) unsafe fn launch(
        &self,
        gpu: &Gpu,
        kernel: &Description,
        grid: [u32; 3],
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        gpu.bind()?;
        let function = gpu.function(kernel)?;
        gpu.launches.note(Launched::new(self.handle() as usize, kernel));
        // SAFETY: an all-zero attribute is a valid one: its number 0 is `CU_LAUNCH_ATTRIBUTE_IGNORE`.
        let mut attributes: [sys::CUlaunchAttribute; 2] = unsafe { std::mem::zeroed() };
        let [cluster, dependent] = &mut attributes;
        let [x, y, z] = kernel.cluster;
        if x * y * z > 1 {
            cluster.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            cluster.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
        }
        if kernel.dependent && function.waits {
            dependent.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            dependent.value.programmaticStreamSerializationAllowed = 1;
        }
        let config = sys::CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: kernel.threads + kernel.copy_threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: function.shared_bytes,
            hStream: self.handle(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: `config` and its attributes live through the call, the function belongs to a module that is never
        // unloaded, and the caller vouches for the parameters.
        let launched = unsafe {
            sys::cuLaunchKernelEx(&config, function.handle.0, parameters.as_mut_ptr(), std::ptr::null_mut())
        };
        gpu.check("launching a kernel", launched.result())
    }
}

impl GpuEvent {
    /// Waits until the event's point is reached.
    pub(crate) fn synchronize(&self, gpu: &Gpu) -> Result<()> {
        gpu.check("waiting for an event", self.event.synchronize())?;
        gpu.show_messages();
        Ok(())
    }

    /// The time from `start` to this event. Waits for both.
    pub(crate) fn elapsed_since(&self, gpu: &Gpu, start: &GpuEvent) -> Result<Duration> {
        let milliseconds =
            gpu.check("asking for the time between events", start.event.elapsed_ms(&self.event))?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}
