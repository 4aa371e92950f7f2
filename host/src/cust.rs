//! Launches kernels on the contexts, streams and buffers of the crate [`cust`].
//!
//! The kernels, their types and all checks are those of the rest of this crate; `cust` has the memory and the streams.
//! [`CustKernels`] loads artifacts into `cust`'s current context, [`CustTensor`] and [`CustTensorMut`] give a buffer the
//! shape that a kernel's span needs.
//!
//! ```no_run
//! // Not run: it needs a GPU.
//! use cust::memory::{CopyDestination, DeviceBuffer};
//! use cust::stream::{Stream, StreamFlags};
//! use cuda_tiles::prelude::*;
//! use cuda_tiles_host::Grid;
//! use cuda_tiles_host::cust::{CustKernels, CustTensor, CustTensorMut};
//!
//! // In a crate of its own, which the build script compiles to PTX:
//! #[kernel]
//! fn vector_add(cx: Cx, a: Span<f32, (u32,)>, b: Span<f32, (u32,)>, c: SpanMut<f32, (u32,)>) {
//!     let tile = shape![1024];
//!     let (a, b, c) = (a.partition(cx, tile), b.partition(cx, tile), c.partition(cx, tile));
//!     let i = cx.bid::<0>();
//!     c.store_masked(a.load_masked(Zero, i) + b.load_masked(Zero, i), i);
//! }
//!
//! // In the program, include_kernels!("kernels") defines KERNELS.
//! # static KERNELS: cuda_tiles_host::Artifact =
//! #     cuda_tiles_host::Artifact::new("kernels", &[], None);
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let _context = cust::quick_init()?;
//! let stream = Stream::new(StreamFlags::DEFAULT, None)?;
//! let kernels = CustKernels::load(&[&KERNELS])?;
//!
//! let a = DeviceBuffer::from_slice(&[1.0_f32; 5000])?;
//! let b = DeviceBuffer::from_slice(&[2.0_f32; 5000])?;
//! let mut c = DeviceBuffer::<f32>::zeroed(5000)?;
//! let (a, b) = (CustTensor::new(&a, [5000])?, CustTensor::new(&b, [5000])?);
//! kernels.launch(&vector_add, &stream, Grid::cover([5000], [1024]), (a, b, CustTensorMut::new(&mut c, [5000])?))?;
//!
//! let mut sums = [0.0_f32; 5000];
//! c.copy_to(&mut sums)?;
//! assert_eq!(sums, [3.0; 5000]);
//! # Ok(())
//! # }
//! ```
//!
//! # Building it
//! `cust` 0.3.2 wants a CUDA toolkit when it is built. The folder `cuda-shim` of this crate takes its place: point
//! `CUDA_LIBRARY_PATH` at it in `.cargo/config.toml`, as this repository does. A program built so starts without a driver
//! too; `cust::init` then returns an error.

mod failure;
mod module;
mod tensor;
mod tensor_maps;

use ::cust::context::CurrentContext;
use ::cust::error::CudaError;
use ::cust::event::{Event, EventFlags};
use ::cust::function::{BlockSize, FunctionAttribute, GridSize};
use ::cust::module::Module;
use ::cust::stream::{Stream, StreamFlags};
use ::cust::sys;
use cuda_tiles::launch::{Description, Kernel, Parameters, UnsafeKernel};
// The crate is linked for the functions it defines.
use cuda_tiles_cuda_shim as _;

use crate::argument::{Arguments, Launching, in_place};
use crate::artifact::{Artifact, Entry, Image};
use crate::code::{Code, Loaded};
use crate::entry;
use crate::error::{Error, Result};
use crate::grid::Grid;
use crate::parameters::{EntryParameters, total_shared};
use crate::trace::{self, Line, Trace};
use crate::warm_up::Progress;

use failure::{describe, failure};
use module::Context;
use tensor_maps::Maps;

pub use tensor::{CustTensor, CustTensorMut};

/// Kernels loaded into `cust`'s current context. They can be launched as long as that context is the current one.
pub struct CustKernels {
    artifacts: Vec<Loaded<Module>>,
    maps: Maps,
    device: String,
    capability: (u32, u32),
    shared_memory_limit: u32,
}

impl CustKernels {
    /// Makes the kernels of the artifacts known for the GPU of the current context. A kernel's first launch brings its code there,
    /// as [`Device::load`](crate::Device::load) says.
    ///
    /// # Errors
    /// [`Error::NoPtx`] or [`Error::NoImage`] if an artifact has nothing for the GPU; [`Error::Driver`] if there is no current context.
    pub fn load(artifacts: &[&'static Artifact]) -> Result<Self> {
        let device = CurrentContext::get_device()
            .map_err(|error| failure("cust", "asking for the current context (has one been made?)", error))?;
        let name = device.name().map_or_else(|_| "a GPU of cust".to_owned(), |name| format!("cust's {name}"));
        let attribute = |attribute| {
            property(device.as_raw(), attribute)
                .map_err(|error| failure(&name, "asking for its properties", error))
        };
        let major = attribute(sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let capability = (major, minor);
        let shared_memory_limit =
            attribute(sys::CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let load = |&artifact: &&'static Artifact| Ok(Loaded::new(artifact, artifact.image(major, minor)?));
        let artifacts = artifacts.iter().map(load).collect::<Result<_>>()?;
        Ok(Self { artifacts, maps: Maps::new(&name, major), device: name, capability, shared_memory_limit })
    }

    /// Brings the code of all kernels to the GPU, one after another, so that no launch has to wait for the driver's compiler.
    /// `progress` hears of each module that has come.
    ///
    /// # Errors
    /// [`Error::PtxVersion`] or [`Error::Jit`], with the compiler's messages, if the driver does not compile a kernel.
    pub fn warm_up(&self, mut progress: impl FnMut(&Progress)) -> Result<()> {
        let modules = self
            .artifacts
            .iter()
            .flat_map(|loaded| loaded.image.modules().into_iter().map(move |number| (loaded, number)));
        let modules: Vec<_> = modules.collect();
        for (done, (loaded, number)) in modules.iter().enumerate() {
            loaded.module(*number, &self.context())?;
            let kernel = loaded.image.kernels_of(*number).first().copied().unwrap_or_default();
            progress(&Progress { kernel, done: done + 1, total: modules.len() });
        }
        Ok(())
    }

    /// How a kernel's code came to the GPU, as [`Device::code_of`](crate::Device::code_of) says.
    ///
    /// # Errors
    /// [`Error::KernelNotLoaded`], [`Error::KernelMismatch`], [`Error::AmbiguousKernel`], and those of [`CustKernels::warm_up`].
    pub fn code_of(&self, kernel: &Description) -> Result<Code> {
        let (loaded, entry) = self.entry(kernel)?;
        loaded.module(entry.module, &self.context()).map(|(_, code)| code.clone())
    }

    fn context(&self) -> Context<'_> {
        Context { device: &self.device, capability: self.capability }
    }

    /// Launches a kernel on a stream and waits for it.
    ///
    /// # Errors
    /// [`Error::Grid`] and [`Error::Argument`] if the grid or an argument does not fit the kernel,
    /// [`Error::KernelNotLoaded`], [`Error::KernelMismatch`], [`Error::AmbiguousKernel`], [`Error::Target`], [`Error::Resources`], at the
    /// first launch [`Error::PtxVersion`] or [`Error::Jit`], and [`Error::Trapped`] if the kernel goes wrong.
    pub fn launch<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        stream: &Stream,
        grid: impl Into<Grid>,
        mut arguments: impl Arguments<P, Stream>,
    ) -> Result<()> {
        // SAFETY: a `Kernel` is made of a safe function; `arguments` lives, and borrows the buffers, until the stream has
        // been waited for. `start` refuses streams that do not wait for `cust`'s copies and fills.
        unsafe { self.start(kernel, stream, grid.into(), &mut arguments)? };
        let ended = stream.synchronize();
        ended.map_err(|error| match is_trap(error) {
            true => self.trapped(kernel.description().name, error),
            false => failure(&self.device, "waiting for a stream", error),
        })
    }

    /// Gives a kernel to a stream, without waiting for it.
    ///
    /// # Errors
    /// As [`CustKernels::launch`]; a kernel that goes wrong makes a later call fail.
    ///
    /// # Safety
    /// Until the stream has been waited for, the buffers among the arguments are not freed, and not used otherwise than
    /// by work given to the same stream.
    pub unsafe fn launch_async<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        stream: &Stream,
        grid: impl Into<Grid>,
        mut arguments: impl Arguments<P, Stream>,
    ) -> Result<()> {
        // SAFETY: a `Kernel` is made of a safe function; the caller vouches for the buffers.
        unsafe { self.start(kernel, stream, grid.into(), &mut arguments) }
    }

    /// Gives a kernel that is an `unsafe fn` to a stream, without waiting for it.
    ///
    /// # Errors
    /// As [`CustKernels::launch_async`].
    ///
    /// # Safety
    /// The kernel's own contract is met; and as for [`CustKernels::launch_async`].
    pub unsafe fn launch_unsafe<P: Parameters>(
        &self,
        kernel: &UnsafeKernel<P>,
        stream: &Stream,
        grid: impl Into<Grid>,
        mut arguments: impl Arguments<P, Stream>,
    ) -> Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { self.start(kernel.as_kernel(), stream, grid.into(), &mut arguments) }
    }

    /// # Safety
    /// The kernel's own contract is met, and the buffers stay the kernel's until it has ended.
    unsafe fn start<P: Parameters>(
        &self,
        kernel: &Kernel<P>,
        stream: &Stream,
        grid: Grid,
        arguments: &mut impl Arguments<P, Stream>,
    ) -> Result<()> {
        let flags = stream.get_flags();
        waits_for_fills(
            &self.device,
            flags.map_err(|error| failure(&self.device, "asking for a stream's flags", error))?,
        )?;
        let description = kernel.description();
        let [x, y, z] = grid.for_kernel(description)?;
        // Until the launch has been given to the stream nobody drops the tensor maps that its arguments find.
        let _held = self.maps.hold()?;
        let launching = Launching { stream, maps: &self.maps };
        let resolved = arguments.resolve(&launching);
        let parts = resolved.map_err(|problem| in_place(description, problem))?.into_parts();
        if grid.is_empty() {
            return Ok(());
        }
        let (function, image) = self.find(description)?;
        entry::check_target(description, image, &self.device, self.capability)?;
        let (threads, shared_bytes) =
            (image.threads(description), description.shared_bytes[image.shared_class()]);
        self.prepare(description, &function, threads.iter().product(), shared_bytes)?;
        let line = || self.line(description, [x, y, z], threads, stream);
        let timed = match trace::wanted() {
            Trace::Off => None,
            Trace::Launches => {
                trace::show(&line());
                None
            }
            Trace::Times => Some((line(), self.event(stream)?)),
        };
        let mut parameters = EntryParameters::new::<P>(&parts);
        // SAFETY: the addresses are those of all PTX parameters, in order, and live to the end of this call; the caller vouches
        // for the rest.
        let launched = unsafe {
            stream.launch(
                &function,
                GridSize::xyz(x, y, z),
                BlockSize::xy(threads[0], threads[1]),
                shared_bytes,
                &parameters.addresses(),
            )
        };
        launched.map_err(|error| failure(&self.device, "launching a kernel", error))?;
        if let Some((line, start)) = timed {
            let end = self.event(stream)?;
            let time = end.synchronize().and_then(|()| end.elapsed(&start));
            trace::show_with(&line, time.map_err(|error| self.trapped(description.name, error))?);
        }
        Ok(())
    }

    /// The launch as a line of text.
    fn line(&self, kernel: &Description, blocks: [u32; 3], threads: [u32; 2], stream: &Stream) -> Line {
        let place = format!("{}, stream {:#x}", self.device, stream.as_inner() as usize);
        Line { kernel: kernel.path, blocks, threads: threads.iter().product(), place }
    }

    /// A point in the work of a stream, with its time.
    fn event(&self, stream: &Stream) -> Result<Event> {
        let event = Event::new(EventFlags::DEFAULT).and_then(|event| event.record(stream).map(|()| event));
        event.map_err(|error| failure(&self.device, "recording an event", error))
    }

    /// The kernel's entry, and the artifact that has it.
    fn entry(&self, kernel: &Description) -> Result<(&Loaded<Module>, &'static Entry)> {
        let images: Vec<_> =
            self.artifacts.iter().map(|loaded| (loaded.artifact.name(), loaded.image)).collect();
        let (number, entry) = entry::find(kernel, &images, &self.device)?;
        Ok((&self.artifacts[number], entry))
    }

    /// The kernel's code, and what it was compiled from.
    fn find(&self, kernel: &Description) -> Result<(::cust::function::Function<'_>, &'static Image)> {
        let (loaded, entry) = self.entry(kernel)?;
        let (module, _) = loaded.module(entry.module, &self.context())?;
        let function = module.get_function(entry.symbol);
        let function = function.map_err(|error| failure(&self.device, "looking a kernel up", error))?;
        Ok((function, loaded.image))
    }

    /// Compares what the kernel needs with what the GPU has, and asks the driver for its shared memory.
    fn prepare(
        &self,
        kernel: &Description,
        function: &::cust::function::Function<'_>,
        needed: u32,
        shared_bytes: u32,
    ) -> Result<()> {
        let refuse = |what, needed, limit| {
            Err(Error::Resources { kernel: kernel.name, what, needed, limit, device: self.device.clone() })
        };
        let get = |attribute| {
            let value = function.get_attribute(attribute).map(|value| value as u32);
            value.map_err(|error| failure(&self.device, "asking for a kernel's properties", error))
        };
        let threads = get(FunctionAttribute::MaxThreadsPerBlock)?;
        if needed > threads {
            return refuse("threads", needed, threads);
        }
        let shared = total_shared(get(FunctionAttribute::SharedMemorySizeBytes)?, shared_bytes);
        if shared > self.shared_memory_limit {
            return refuse("bytes of shared memory", shared, self.shared_memory_limit);
        }
        // SAFETY: the function belongs to a module that `self` keeps loaded.
        let code = unsafe {
            sys::cuFuncSetAttribute(
                function.to_raw(),
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                shared_bytes as i32,
            )
        };
        match code {
            sys::CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(Error::Driver {
                device: self.device.clone(),
                operation: "asking for a kernel's shared memory",
                code: format!("{code:?}"),
            }),
        }
    }

    fn trapped(&self, kernel: &'static str, error: CudaError) -> Error {
        Error::Trapped {
            kernels: vec![kernel],
            device: self.device.clone(),
            code: describe(error),
            report: None,
        }
    }
}

/// Refuses streams that do not wait for the default stream, on which `cust` fills its buffers without waiting itself. Version 0.3.2
/// makes none: it leaves the flag out.
fn waits_for_fills(device: &str, flags: StreamFlags) -> Result<()> {
    if !flags.contains(StreamFlags::NON_BLOCKING) {
        return Ok(());
    }
    Err(Error::Driver {
        device: device.to_owned(),
        operation: "launching a kernel",
        code: "the stream is non-blocking, and would not wait until `cust` has filled the buffers; make it with \
               `StreamFlags::DEFAULT`"
            .to_owned(),
    })
}

/// A property of a GPU that `cust`'s own list of properties leaves out.
fn property(device: sys::CUdevice, attribute: sys::CUdevice_attribute_enum) -> Result<u32, CudaError> {
    let mut value = 0;
    // SAFETY: the function writes one integer to the address it is given.
    match unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, device) } {
        sys::CUresult::CUDA_SUCCESS => Ok(value as u32),
        _ => Err(CudaError::InvalidDevice),
    }
}

/// Whether the error is one that a running kernel causes, after which the context is of no use.
fn is_trap(error: CudaError) -> bool {
    matches!(
        error,
        CudaError::IllegalAddress
            | CudaError::LaunchTimeout
            | CudaError::AssertError
            | CudaError::HardwareStackError
            | CudaError::IllegalInstruction
            | CudaError::MisalignedAddress
            | CudaError::InvalidAddressSpace
            | CudaError::InvalidProgramCounter
            | CudaError::LaunchFailed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_wait_for_nothing_are_refused() {
        waits_for_fills("GPU 0", StreamFlags::DEFAULT).unwrap();
        let message = waits_for_fills("GPU 0", StreamFlags::NON_BLOCKING).unwrap_err().to_string();
        assert!(
            message.starts_with("GPU 0: launching a kernel failed: the stream is non-blocking"),
            "{message}"
        );
        assert!(message.ends_with("make it with `StreamFlags::DEFAULT`"), "{message}");
    }

    #[test]
    fn without_a_context_loading_says_so() {
        let message = CustKernels::load(&[]).err().map(|error| error.to_string());
        let message = message.expect("this test makes no context");
        assert!(
            message.starts_with("cust: asking for the current context (has one been made?) failed"),
            "{message}"
        );
    }
}
