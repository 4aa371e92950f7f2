//! Graphs of the driver.
//!
//! What was recorded is given to a stream that captures, all at once and by this module alone: the driver then makes of launches what it
//! makes of them on streams, early starts included, and nobody's code runs in between. The mode of the capture is the relaxed one, since
//! the stream is this crate's own: the stricter modes fail calls that might wait for the stream, which nobody can, and the first launch of
//! a kernel may load its code.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_tiles::launch::Description;
use cuda_tiles::memory::TensorMap;
use cudarc::driver::{DriverError, sys};

use super::Gpu;
use super::failure::Launched;
use super::loaded::Handle;
use super::memory::GpuMemory;
use super::pinned::{Copies, GpuPinned};
use super::stream::{GpuLaunch, GpuStream};
use crate::access::Access;
use crate::error::Result;
use crate::parameters::EntryParameters;
use crate::tensor_maps::{Encoding, MapDescription, MapDevice, MapKeeper, TensorMaps, Words};

/// One operation of a graph.
pub(crate) struct GpuOperation(Operation);

enum Operation {
    /// A launch.
    Launch { launch: GpuLaunch, launched: Launched, parameters: EntryParameters },
    /// A copy between two addresses, one of them of page-locked memory: with unified addresses the driver knows which.
    Copy { source: u64, target: u64, bytes: usize },
}

impl GpuOperation {
    /// The launch of a kernel, whose code comes to the GPU now if it is not there yet.
    pub(crate) fn launch(
        gpu: &Gpu,
        kernel: &Description,
        grid: [u32; 3],
        parameters: EntryParameters,
    ) -> Result<Self> {
        gpu.bind()?;
        let launch = GpuLaunch::new(gpu, kernel, grid)?;
        Ok(Self(Operation::Launch { launch, launched: Launched::new(0, kernel), parameters }))
    }

    pub(crate) fn copy(source: *const u8, target: *mut u8, bytes: usize) -> Self {
        Self(Operation::Copy { source: source as u64, target: target as u64, bytes })
    }

    /// Gives the operation to a stream.
    ///
    /// # Safety
    /// The stream is alive, and captures; what is captured is launched as [`GpuGraph::launch`] wants it.
    unsafe fn give(&mut self, stream: sys::CUstream) -> Result<(), DriverError> {
        match &mut self.0 {
            // SAFETY: the parameters are those of the kernel, and live through the call; the memory that they point to is used by launches of
            // the graph alone, for which the caller vouches.
            Operation::Launch { launch, parameters, .. } => unsafe {
                launch.give(stream, &mut parameters.addresses())
            },
            // SAFETY: the same holds for the memory that is copied.
            Operation::Copy { source, target, bytes } => unsafe {
                sys::cuMemcpyAsync(*target, *source, *bytes, stream).result()
            },
        }
    }
}

/// A graph that the driver can launch.
pub(crate) struct GpuGraph {
    gpu: &'static Gpu,
    executable: Handle<sys::CUgraphExec>,
    /// Each kernel once, in the order of their first launches.
    kernels: Vec<Launched>,
}

impl GpuGraph {
    /// Makes a graph of what was recorded.
    pub(crate) fn new(gpu: &'static Gpu, mut operations: Vec<GpuOperation>) -> Result<Self> {
        gpu.bind()?;
        let captured = Captured::new(gpu, &mut operations)?;
        Ok(Self { gpu, executable: captured.instantiate()?, kernels: kernels_of(&operations) })
    }

    /// Lets later launches do what was recorded anew: by changing the nodes of the graph, if the driver finds it of the same form, else by
    /// a new graph. Launches that were given to streams do what they did.
    pub(crate) fn update(&mut self, mut operations: Vec<GpuOperation>) -> Result<()> {
        self.gpu.bind()?;
        let captured = Captured::new(self.gpu, &mut operations)?;
        // SAFETY: an all-zero value is a valid one of this struct of numbers and addresses.
        let mut told: sys::CUgraphExecUpdateResultInfo = unsafe { std::mem::zeroed() };
        // SAFETY: both graphs are alive, `&mut self` keeps others from launching or updating this one, and the result is written.
        let updated = unsafe { sys::cuGraphExecUpdate_v2(self.executable.0, captured.graph, &mut told) };
        match updated {
            sys::CUresult::CUDA_SUCCESS => {}
            // It is as it was.
            sys::CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE => {
                let executable = captured.instantiate()?;
                self.destroy();
                self.executable = executable;
            }
            other => self.gpu.check("updating a graph", other.result())?,
        }
        self.kernels = kernels_of(&operations);
        Ok(())
    }

    /// Gives the graph to a stream: memory that it uses as `memory` says, and page-locked memory from and to which it copies.
    ///
    /// # Safety
    /// All memory that was recorded is among these, or in `maps`, and nobody else gives work to a stream that uses it before this call returns;
    /// the kernels' own contracts are met.
    pub(crate) unsafe fn launch<'memory>(
        &mut self,
        stream: &GpuStream,
        memory: impl Iterator<Item = (&'memory GpuMemory, Access)>,
        pinned: &mut Vec<&'memory GpuPinned>,
        maps: &GraphMaps,
    ) -> Result<()> {
        self.gpu.bind()?;
        for (memory, access) in memory {
            memory.enter(stream, access)?;
        }
        maps.enter(stream)?;
        // By their addresses, and each once: two graphs on two threads that wait for the same two must not wait for each other.
        pinned.sort_unstable_by_key(|pinned| pinned.address());
        pinned.dedup_by_key(|pinned| pinned.address());
        let copies: Vec<Copies<'_>> =
            pinned.iter().map(|pinned| pinned.begin(stream)).collect::<Result<_>>()?;
        let handle = stream.handle() as usize;
        self.gpu.launches.note_all(self.kernels.iter().map(|launched| launched.on(handle)));
        // SAFETY: the graph is alive and nobody else launches it, its memory is in use by it from here on, and the rest is passed on to the
        // caller.
        let launched = unsafe { sys::cuGraphLaunch(self.executable.0, stream.handle()) };
        self.gpu.check("launching a graph", launched.result())?;
        copies.into_iter().try_for_each(|copies| copies.end(stream))
    }

    /// Launches that are under way end first: the driver sees to that (CUDA driver API, `cuGraphExecDestroy`).
    fn destroy(&mut self) {
        // SAFETY: the graph is alive, and not used again.
        let destroyed = unsafe { sys::cuGraphExecDestroy(self.executable.0) };
        self.gpu.context.record_err(destroyed.result());
    }
}

impl Drop for GpuGraph {
    fn drop(&mut self) {
        if self.gpu.bind().is_ok() {
            self.destroy();
        }
    }
}

fn kernels_of(operations: &[GpuOperation]) -> Vec<Launched> {
    let mut kernels = Vec::new();
    for GpuOperation(operation) in operations {
        match operation {
            Operation::Launch { launched, .. } if !kernels.contains(launched) => kernels.push(*launched),
            _ => {}
        }
    }
    kernels
}

/// What the driver has captured.
struct Captured {
    gpu: &'static Gpu,
    graph: sys::CUgraph,
}

impl Captured {
    /// Captures the operations. The GPU's context must be the calling thread's current one.
    fn new(gpu: &'static Gpu, operations: &mut [GpuOperation]) -> Result<Self> {
        const OPERATION: &str = "capturing a graph";
        let stream = gpu.capture_stream()?.cu_stream();
        let _alone = gpu.capturing.write().unwrap_or_else(PoisonError::into_inner);
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives as long as the GPU, and nobody else uses it now.
        gpu.check(OPERATION, unsafe { sys::cuStreamBeginCapture_v2(stream, mode) }.result())?;
        // SAFETY: the stream captures. `GpuGraph` is launched as it says.
        let given = operations.iter_mut().try_for_each(|operation| unsafe { operation.give(stream) });
        let mut graph = std::ptr::null_mut();
        // SAFETY: the capture began on this thread, and the result is written.
        let ended = unsafe { sys::cuStreamEndCapture(stream, &mut graph) }.result();
        // Whatever there is of it is destroyed.
        let captured = Self { gpu, graph };
        gpu.check(OPERATION, given.and(ended))?;
        Ok(captured)
    }

    fn instantiate(&self) -> Result<Handle<sys::CUgraphExec>> {
        let mut executable = std::ptr::null_mut();
        // SAFETY: the graph is alive, and the result is written.
        let made = unsafe { sys::cuGraphInstantiateWithFlags(&mut executable, self.graph, 0) };
        self.gpu.check("making a graph", made.result())?;
        Ok(Handle(executable))
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        if !self.graph.is_null() {
            // SAFETY: the graph is alive, and not used again. What was instantiated needs it no more.
            self.gpu.context.record_err(unsafe { sys::cuGraphDestroy(self.graph) }.result());
        }
    }
}

/// The tensor maps of a graph, which are there as long as it is.
pub(crate) struct GraphMaps {
    maps: TensorMaps,
    room: Room,
}

/// Memory for tensor maps.
struct Room {
    gpu: &'static Gpu,
    chunks: Mutex<Vec<GpuMemory>>,
}

impl GraphMaps {
    pub(crate) fn new(gpu: &'static Gpu) -> Arc<Self> {
        Arc::new(Self { maps: TensorMaps::default(), room: Room { gpu, chunks: Mutex::default() } })
    }

    /// Enters a use of the maps on a stream.
    fn enter(&self, stream: &GpuStream) -> Result<()> {
        let chunks = self.room.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        chunks.iter().try_for_each(|chunk| chunk.enter(stream, Access::Read))
    }
}

impl MapKeeper for GraphMaps {
    fn tensor_map(&self, description: &MapDescription) -> Result<*const TensorMap> {
        match self.room.gpu.has_tensor_maps() {
            true => self.maps.get(&self.room, description),
            false => Ok(std::ptr::null()),
        }
    }
}

impl MapDevice for Room {
    fn encode(&self, encoding: &Encoding) -> Result<Words> {
        self.gpu.encode(encoding)
    }

    fn allocate(&self, bytes: usize) -> Result<u64> {
        let chunk = GpuMemory::filled(self.gpu, bytes, 0)?;
        // Maps come on a stream of their own, which does not wait for the allocation.
        self.gpu.check("allocating memory for tensor maps", self.gpu.default_stream().finish())?;
        let address = chunk.address() as u64;
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner).push(chunk);
        Ok(address)
    }

    fn upload(&self, address: u64, maps: &[Words]) -> Result<()> {
        self.gpu.upload(address, maps)
    }

    fn settle(&self) -> Result<()> {
        self.gpu.settle()
    }
}
