//! Page-locked memory of the host, which a GPU copies to and from while the host goes on.

use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaEvent, result, sys};

use super::{Gpu, GpuStream};
use crate::error::{Error, Result};

/// Page-locked bytes of the host.
///
/// One event stands for all copies under way: each copy waits for the one before, on whatever stream it was, and then
/// records the event. The lock keeps those two steps together.
pub(crate) struct GpuPinned {
    gpu: &'static Gpu,
    address: *mut c_void,
    bytes: usize,
    last_copy: Mutex<CudaEvent>,
}

// SAFETY: the memory belongs to the process and to no thread; who may touch it when is decided by the borrow rules of
// the owner on the host's side and by `last_copy` on the GPU's.
unsafe impl Send for GpuPinned {}
// SAFETY: as above; through a shared reference the memory is only read.
unsafe impl Sync for GpuPinned {}

impl GpuPinned {
    /// Allocates page-locked bytes, all zero.
    pub(crate) fn zeroed(gpu: &'static Gpu, bytes: usize) -> Result<Self> {
        gpu.bind()?;
        let last_copy = Mutex::new(gpu.check("making an event", gpu.context.new_event(None))?);
        // SAFETY: allocating changes nothing that exists. The driver refuses a length of 0.
        let address = match unsafe { result::malloc_host(bytes.max(1), 0) } {
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                return Err(Error::OutOfMemory {
                    device: "page-locked memory of the host".to_owned(),
                    bytes,
                });
            }
            other => gpu.check("allocating page-locked memory", other)?,
        };
        // SAFETY: the allocation is this long and nobody else has its address yet.
        unsafe { address.cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { gpu, address, bytes, last_copy })
    }

    /// The GPU whose driver locked the memory.
    pub(crate) fn gpu(&self) -> &'static Gpu {
        self.gpu
    }

    /// Where the memory begins.
    pub(crate) fn address(&self) -> *mut u8 {
        self.address.cast()
    }

    /// Length in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Waits for all copies under way, then gives the memory's address.
    pub(crate) fn settled(&self) -> Result<*mut u8> {
        self.gpu.check("waiting for a copy", self.last_copy().synchronize())?;
        Ok(self.address.cast())
    }

    /// Lets `stream` make a copy from or to this memory after all earlier ones.
    pub(super) fn enter(
        &self,
        stream: &GpuStream,
        copy: impl FnOnce(*mut c_void) -> sys::CUresult,
    ) -> Result<()> {
        let last_copy = self.last_copy();
        self.gpu.bind()?;
        self.gpu.check("waiting for a copy", stream.hold(&last_copy))?;
        if self.bytes == 0 {
            return Ok(());
        }
        self.gpu.check("copying", copy(self.address).result())?;
        Copies { gpu: self.gpu, last_copy }.end(stream)
    }

    /// Lets `stream` run a graph that copies from or to this memory after all earlier copies. The copies of others wait for
    /// [`Copies::end`].
    pub(super) fn begin(&self, stream: &GpuStream) -> Result<Copies<'_>> {
        let last_copy = self.last_copy();
        self.gpu.check("waiting for a copy", stream.hold(&last_copy))?;
        Ok(Copies { gpu: self.gpu, last_copy })
    }

    fn last_copy(&self) -> MutexGuard<'_, CudaEvent> {
        self.last_copy.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The copies of a graph that is about to be launched, from or to one buffer.
pub(super) struct Copies<'pinned> {
    gpu: &'static Gpu,
    last_copy: MutexGuard<'pinned, CudaEvent>,
}

impl Copies<'_> {
    /// Copies from or to the buffer that are asked for from now on come after the graph, which was given to `stream`.
    pub(super) fn end(self, stream: &GpuStream) -> Result<()> {
        let recorded = stream.mark(&self.last_copy);
        if recorded.is_err() {
            // Without the event nobody would know when the copies end: they have to end here.
            stream.synchronize(self.gpu)?;
        }
        self.gpu.check("recording an event", recorded)
    }
}

impl Drop for GpuPinned {
    fn drop(&mut self) {
        // After a trap no copy is under way, and the driver frees nothing more.
        if self.gpu.bind().and_then(|()| self.settled()).is_ok() {
            // SAFETY: the memory came from the matching allocation function; no copy is under way.
            self.gpu.context.record_err(unsafe { result::free_host(self.address) });
        }
    }
}
