//! A GPU: its primary context, its properties and what is loaded on it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};

use super::driver;
use super::failure::{Launches, describe};
use super::loaded::Modules;
use super::messages::Messages;
use super::stream::GpuStream;
use crate::error::{Error, Result};
use crate::owner::Owner;
use crate::tensor_maps::TensorMaps;

/// A GPU that this process has opened. It stays open to the end of the process, with all that is loaded on it: opening
/// it again is free, and no kernel in flight can lose its code.
pub(crate) struct Gpu {
    pub(super) context: Arc<CudaContext>,
    pub(super) modules: Modules,
    pub(super) launches: Launches,
    /// What its kernels say; made when a module that has something to say is loaded.
    pub(super) messages: Mutex<Option<Messages>>,
    pub(super) tensor_maps: TensorMaps,
    /// The GPUs whose memory its kernels may use, by their numbers, and whether they can update it atomically.
    pub(super) peers: Mutex<BTreeMap<usize, bool>>,
    /// Those of launches on streams that somebody captures, whose graphs may be launched as long as the process runs.
    pub(super) captured_maps: TensorMaps,
    /// Brings small things to the GPU beside all other work; made when the first one is.
    uploads: OnceLock<Arc<CudaStream>>,
    /// Captures graphs; made when the first one is.
    captures: OnceLock<Arc<CudaStream>>,
    /// Written by who captures a graph, read by who waits for the whole GPU: the driver fails both if they meet.
    pub(super) capturing: RwLock<()>,
    /// Owners of memory that was used on streams which somebody captured: they end when the whole GPU has been waited for.
    deferred: Mutex<Vec<Owner>>,
    default_stream: GpuStream,
    name: String,
    capability: (u32, u32),
    multiprocessors: u32,
    shared_memory_limit: u32,
    driver_version: i32,
}

impl Gpu {
    /// Opens a GPU, or finds it open.
    pub(crate) fn open(ordinal: usize) -> Result<&'static Gpu> {
        static OPEN: Mutex<BTreeMap<usize, &'static Gpu>> = Mutex::new(BTreeMap::new());

        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        // First, since programs ask for the GPU of each buffer and each call.
        if let Some(gpu) = open.get(&ordinal) {
            return Ok(gpu);
        }
        let count = Self::count()?;
        if ordinal >= count {
            return Err(Error::NoSuchGpu { ordinal, count });
        }
        let gpu: &'static Gpu = Box::leak(Box::new(Self::new(ordinal)?));
        open.insert(ordinal, gpu);
        Ok(gpu)
    }

    /// How many GPUs the driver reports.
    ///
    /// # Errors
    /// [`Error::NoDriver`] if there is no driver, or none that starts; [`Error::DriverTooOld`].
    pub(crate) fn count() -> Result<usize> {
        if !driver::is_present() {
            return Err(Error::NoDriver { reason: "no NVIDIA driver: libcuda.so.1 not found".to_owned() });
        }
        let no_driver = |error: DriverError| Error::NoDriver { reason: describe(error) };
        result::init().map_err(no_driver)?;
        let version = driver::version().map_err(no_driver)?;
        if version < driver::OLDEST {
            let (major, minor) = (version as u32 / 1000, version as u32 % 1000 / 10);
            return Err(Error::DriverTooOld { major, minor });
        }
        match result::device::get_count().map_err(no_driver)? {
            0 => Err(Error::NoDriver { reason: "the NVIDIA driver reports no GPU".to_owned() }),
            count => Ok(count as usize),
        }
    }

    fn new(ordinal: usize) -> Result<Self> {
        let failed = |operation| {
            move |error| Error::Driver { device: format!("GPU {ordinal}"), operation, code: describe(error) }
        };
        let context = CudaContext::new(ordinal).map_err(failed("opening the GPU"))?;
        let attribute = |attribute| {
            context
                .attribute(attribute)
                .map(|value| value as u32)
                .map_err(failed("asking for the GPU's properties"))
        };
        let capability = (
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        );
        Ok(Self {
            name: context.name().map_err(failed("asking for the GPU's name"))?,
            capability,
            multiprocessors: attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_memory_limit: attribute(
                CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            driver_version: driver::version().map_err(failed("asking for the driver's version"))?,
            default_stream: GpuStream::new(&context, context.default_stream()),
            modules: Modules::default(),
            launches: Launches::default(),
            messages: Mutex::default(),
            tensor_maps: TensorMaps::default(),
            peers: Mutex::default(),
            captured_maps: TensorMaps::default(),
            uploads: OnceLock::new(),
            captures: OnceLock::new(),
            capturing: RwLock::default(),
            deferred: Mutex::default(),
            context,
        })
    }

    /// Number of the GPU, from 0, in the driver's order.
    pub(crate) fn ordinal(&self) -> usize {
        self.context.ordinal()
    }

    /// The GPU's product name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Major and minor number of the compute capability.
    pub(crate) fn capability(&self) -> (u32, u32) {
        self.capability
    }

    /// Number of streaming multiprocessors.
    pub(crate) fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The most shared memory that one block can have, in bytes.
    pub(crate) fn shared_memory_limit(&self) -> u32 {
        self.shared_memory_limit
    }

    /// The CUDA version that the driver supports, as `12.8`.
    pub(super) fn driver(&self) -> String {
        format!("{}.{}", self.driver_version / 1000, self.driver_version % 1000 / 10)
    }

    /// Free and total memory, in bytes.
    pub(crate) fn memory(&self) -> Result<(usize, usize)> {
        self.check("asking for the GPU's memory", self.context.mem_get_info())
    }

    /// Waits for all work on the GPU.
    pub(crate) fn synchronize(&self) -> Result<()> {
        let deferred = std::mem::take(&mut *self.deferred());
        if let Err(error) = self.settle() {
            self.deferred().extend(deferred);
            return Err(error);
        }
        deferred.into_iter().for_each(Owner::end);
        self.launches.forget(None);
        self.show_messages();
        Ok(())
    }

    pub(super) fn deferred(&self) -> MutexGuard<'_, Vec<Owner>> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same without a look at what kernels have printed, which the user's function shows, and which may launch others.
    pub(super) fn settle(&self) -> Result<()> {
        let _no_capture = self.capturing.read().unwrap_or_else(PoisonError::into_inner);
        self.check("waiting for the GPU", self.context.synchronize())
    }

    /// The stream that is used where the user names none.
    pub(crate) fn default_stream(&self) -> &GpuStream {
        &self.default_stream
    }

    /// Makes a stream that runs beside all others.
    pub(crate) fn new_stream(&self) -> Result<GpuStream> {
        let stream = self.check("making a stream", self.context.new_stream())?;
        Ok(self.shared_stream(stream))
    }

    /// A stream of this GPU's primary context that belongs to somebody else; null is the default stream.
    ///
    /// # Safety
    /// The handle is valid as long as any clone of the result is used.
    pub(crate) unsafe fn borrowed_stream(&self, handle: *mut c_void) -> GpuStream {
        if handle.is_null() {
            return self.default_stream.clone();
        }
        // SAFETY: passed on to the caller.
        unsafe { GpuStream::borrowed(&self.context, handle.cast()) }
    }

    /// A stream of `cudarc`, which belongs to this GPU's primary context, as one of ours.
    pub(crate) fn shared_stream(&self, stream: Arc<CudaStream>) -> GpuStream {
        GpuStream::new(&self.context, stream)
    }

    /// Whether a stream of `cudarc` belongs to this GPU's primary context.
    pub(crate) fn owns(&self, stream: &CudaStream) -> bool {
        stream.context().cu_ctx() == self.context.cu_ctx()
    }

    /// A stream that waits for nobody's kernels. A copy without a stream would, and would come back before its end.
    pub(super) fn upload_stream(&self) -> Result<&Arc<CudaStream>> {
        self.stream_in(&self.uploads)
    }

    /// A stream that nothing else is given to than graphs to be captured, by who has `capturing` for itself.
    pub(super) fn capture_stream(&self) -> Result<&Arc<CudaStream>> {
        self.stream_in(&self.captures)
    }

    fn stream_in<'gpu>(&self, place: &'gpu OnceLock<Arc<CudaStream>>) -> Result<&'gpu Arc<CudaStream>> {
        match place.get() {
            Some(stream) => Ok(stream),
            None => {
                let stream = self.check("making a stream", self.context.new_stream())?;
                Ok(place.get_or_init(|| stream))
            }
        }
    }

    /// Makes the GPU's context the calling thread's current one, which the driver's functions work on.
    pub(crate) fn bind(&self) -> Result<()> {
        self.check("switching to the GPU", self.context.bind_to_thread())
    }
}

impl fmt::Display for Gpu {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "GPU {} ({})", self.ordinal(), self.name)
    }
}
