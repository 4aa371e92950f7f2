//! Streams and events of a GPU.

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use cuda_tiles::launch::Description;
use cudarc::driver::sys::{self, CUevent_flags, CUlaunchAttributeID};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};

use super::Gpu;
use super::capture::{self, Relaxed};
use super::driver;
use super::failure::Launched;
use super::loaded::{Function, Handle};
use crate::entry;
use crate::error::{Error, Result};

/// A queue of work on a GPU. Clones are the same queue.
#[derive(Clone)]
pub(crate) struct GpuStream {
    queue: Arc<Queue>,
}

struct Queue {
    handle: Handle<sys::CUstream>,
    /// What destroys the driver's stream at the end; nothing for one that belongs to somebody else.
    _owner: Option<Arc<CudaStream>>,
    context: Arc<CudaContext>,
    /// Recorded whenever another stream has to wait for all that this one has been given so far. Made when the first one has to: most
    /// streams that are borrowed for a launch never need it.
    marker: OnceLock<CudaEvent>,
}

/// A point in the work of a stream, with its time.
pub(crate) struct GpuEvent {
    event: CudaEvent,
}

impl GpuStream {
    pub(super) fn new(context: &Arc<CudaContext>, stream: Arc<CudaStream>) -> Self {
        Self::of(context, stream.cu_stream(), Some(stream))
    }

    /// A stream that belongs to somebody else, who also destroys it.
    ///
    /// # Safety
    /// The handle is that of a stream of this context, or null for its default stream, and stays valid as long as any
    /// clone of the result is used.
    pub(super) unsafe fn borrowed(context: &Arc<CudaContext>, handle: sys::CUstream) -> Self {
        Self::of(context, handle, None)
    }

    fn of(context: &Arc<CudaContext>, handle: sys::CUstream, owner: Option<Arc<CudaStream>>) -> Self {
        let (handle, context) = (Handle(handle), Arc::clone(context));
        Self { queue: Arc::new(Queue { handle, _owner: owner, context, marker: OnceLock::new() }) }
    }

    /// The event that other streams wait for.
    fn marker(&self) -> Result<&CudaEvent, DriverError> {
        match self.queue.marker.get() {
            Some(marker) => Ok(marker),
            None => {
                let marker = self.queue.context.new_event(None)?;
                Ok(self.queue.marker.get_or_init(|| marker))
            }
        }
    }

    /// The driver's handle.
    pub(super) fn handle(&self) -> sys::CUstream {
        self.queue.handle.0
    }

    /// The driver's handle, for other libraries.
    pub(crate) fn raw_handle(&self) -> *mut c_void {
        self.handle().cast()
    }

    /// Whether both are the same queue. Default streams of all GPUs have the same handle.
    pub(crate) fn is(&self, other: &GpuStream) -> bool {
        let gpu = |stream: &GpuStream| stream.queue.context.ordinal();
        Arc::ptr_eq(&self.queue, &other.queue) || (self.handle() == other.handle() && gpu(self) == gpu(other))
    }

    /// Records an event at the end of the work given to this stream so far.
    pub(super) fn mark(&self, event: &CudaEvent) -> Result<(), DriverError> {
        event.context().bind_to_thread()?;
        // SAFETY: the event is alive, and so is the stream: it has an owner here, or the maker of `self` vouches for it.
        unsafe { result::event::record(event.cu_event(), self.handle()) }
    }

    /// Makes the context of the stream's GPU the calling thread's current one. The default stream is that of the current context.
    pub(super) fn bind(&self) -> Result<(), DriverError> {
        self.queue.context.bind_to_thread()
    }

    /// Lets work given to this stream from now on wait for an event. The context of the stream's GPU is the thread's current one then.
    pub(super) fn hold(&self, event: &CudaEvent) -> Result<(), DriverError> {
        // The event may be another GPU's.
        self.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: as above.
        unsafe { result::stream::wait_event(self.handle(), event.cu_event(), flags) }
    }

    /// Whether all work given to this stream is done.
    pub(super) fn is_idle(&self) -> bool {
        if self.bind().is_err() {
            return false;
        }
        // SAFETY: as above.
        let state = unsafe { sys::cuStreamQuery(self.handle()) };
        state == sys::CUresult::CUDA_SUCCESS
    }

    /// Whether somebody captures the stream into a graph, or, of the default stream, one that it would wait for. The context of the
    /// stream's GPU is the thread's current one then.
    pub(crate) fn is_captured(&self) -> bool {
        // SAFETY: as above, and the context is current.
        self.bind().is_ok() && unsafe { capture::is_captured(self.handle()) }
    }

    /// Waits until all work given to this stream is done. The GPU's context must be the calling thread's current one.
    pub(super) fn finish(&self) -> Result<(), DriverError> {
        // SAFETY: as above.
        unsafe { result::stream::synchronize(self.handle()) }
    }

    /// Waits until all work given to this stream is done.
    pub(crate) fn synchronize(&self, gpu: &Gpu) -> Result<()> {
        gpu.bind()?;
        gpu.check("waiting for a stream", self.finish())?;
        gpu.launches.forget(Some(self.handle() as usize));
        gpu.show_messages();
        Ok(())
    }

    /// Marks the end of the work given to this stream so far.
    pub(crate) fn record(&self, gpu: &Gpu) -> Result<GpuEvent> {
        let event =
            gpu.check("making an event", gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)))?;
        gpu.check("recording an event", self.mark(&event))?;
        Ok(GpuEvent { event })
    }

    /// Lets work given to this stream from now on wait for the event. Does not block the caller.
    pub(crate) fn wait(&self, gpu: &Gpu, event: &GpuEvent) -> Result<()> {
        gpu.check("waiting for an event", self.hold(&event.event))
    }

    /// Lets work given to this stream from now on wait for all that `other` has been given so far.
    pub(super) fn follow(&self, gpu: &Gpu, other: &GpuStream) -> Result<()> {
        if self.is(other) {
            return Ok(());
        }
        gpu.bind()?;
        match (self.is_captured(), other.is_captured()) {
            (true, false) => {
                // The graph cannot wait for what is no part of it, and has not to if that is over.
                let is_over = {
                    let _relaxed = Relaxed::new();
                    other.is_idle()
                };
                gpu.check("using a stream", self.bind())?;
                return if is_over { Ok(()) } else { Err(between_captures()) };
            }
            (false, true) => return Err(between_captures()),
            _ => {}
        }
        // Another thread may record the marker again between the two calls: then this stream waits for more than it
        // has to, never for less.
        let marker = gpu.check("making an event", other.marker())?;
        gpu.check("recording an event", other.mark(marker))?;
        gpu.check("waiting for another stream", self.hold(marker))
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
        let launch = GpuLaunch::new(gpu, kernel, grid)?;
        gpu.launches.note(Launched::new(self.handle() as usize, kernel));
        // SAFETY: passed on to the caller.
        gpu.check("launching a kernel", unsafe { launch.give(self.handle(), parameters) })
    }
}

/// A kernel that is ready for this GPU, and the grid that it is launched on.
pub(super) struct GpuLaunch {
    function: Function,
    grid: [u32; 3],
    /// Whether it may start before the kernel that it depends on has ended.
    starts_early: bool,
}

impl GpuLaunch {
    /// The launch of a kernel whose code comes to the GPU now if it is not there yet. The GPU's context must be the calling thread's
    /// current one.
    pub(super) fn new(gpu: &Gpu, kernel: &Description, grid: [u32; 3]) -> Result<Self> {
        let function = gpu.function(kernel)?;
        entry::check_target(kernel, function.image, gpu, gpu.capability())?;
        let starts_early = kernel.dependent && function.waits;
        // Clusters of blocks count as one.
        let [x, y, z] = grid;
        Ok(Self { function, grid: [x * kernel.cluster, y, z], starts_early })
    }

    /// Gives the launch to a stream.
    ///
    /// # Safety
    /// The stream is alive, and the rest is as for [`GpuStream::launch`].
    pub(super) unsafe fn give(
        &self,
        stream: sys::CUstream,
        parameters: &mut [*mut c_void],
    ) -> Result<(), DriverError> {
        let Self { function, grid, starts_early } = *self;
        // SAFETY: an all-zero attribute is a valid one: its number 0 is `CU_LAUNCH_ATTRIBUTE_IGNORE`.
        let mut dependent: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        if starts_early {
            dependent.id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            dependent.value.programmaticStreamSerializationAllowed = 1;
        }
        let config = sys::CUlaunchConfig {
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: function.threads[0],
            blockDimY: function.threads[1],
            blockDimZ: 1,
            sharedMemBytes: function.shared_bytes,
            hStream: stream,
            attrs: &raw mut dependent,
            numAttrs: 1,
        };
        // SAFETY: `config` and its attribute live through the call, the function belongs to a module that is never
        // unloaded, and the caller vouches for the stream and the parameters.
        let launched = unsafe {
            sys::cuLaunchKernelEx(&config, function.handle.0, parameters.as_mut_ptr(), std::ptr::null_mut())
        };
        launched.result()
    }
}

/// The error of a wait between a stream that somebody captures and one that nobody does.
fn between_captures() -> Error {
    let problem = "memory is used on two streams, of which somebody captures one: use it on the captured stream alone, or wait for the other one \
                   before the capture begins";
    Error::Graph { operation: "giving work to a stream", problem: problem.to_owned() }
}

/// By the driver's handle, which is 0 for the default stream.
impl fmt::Display for GpuStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "stream {:#x}", self.handle() as usize)
    }
}

impl GpuEvent {
    /// Waits until the event's point is reached.
    pub(crate) fn synchronize(&self, gpu: &Gpu) -> Result<()> {
        gpu.check("waiting for an event", self.event.synchronize())?;
        gpu.show_messages();
        Ok(())
    }

    /// Whether the event's point is reached.
    pub(crate) fn is_done(&self, gpu: &Gpu) -> Result<bool> {
        gpu.bind()?;
        gpu.check("asking for the state of an event", self.event.try_is_complete())
    }

    /// The time from `start` to this event. Waits for both.
    pub(crate) fn elapsed_since(&self, gpu: &Gpu, start: &GpuEvent) -> Result<Duration> {
        let milliseconds = driver::milliseconds_between(&start.event, &self.event);
        let milliseconds = gpu.check("asking for the time between events", milliseconds)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}
