//! Launching kernels.

use std::sync::RwLockReadGuard;

use cuda_tiles::launch::{Description, Kernel, Parameters, UnsafeKernel};

use crate::argument::{Arguments, Launching, in_place};
use crate::cpu;
use crate::device::Device;
use crate::entry::check_cpu;
#[allow(unused_imports, reason = "for links in the documentation")]
use crate::error::Error;
use crate::error::Result;
use crate::gpu::StreamMaps;
use crate::grid::Grid;
#[cfg(feature = "nvtx")]
use crate::nvtx;
use crate::prepared::{Prepared, Work};
use crate::recording::Recording;
use crate::stream::Stream;
use crate::tensor_maps::{MapKeeper, NoMaps};
use crate::trace::{self, Line, Trace};

/// Launches a kernel whose safety the compiler has checked.
///
/// The arguments are a tuple, see [`Argument`](crate::Argument). On a GPU the launch is given to the stream and the call
/// returns; on the CPU it returns when all blocks have run.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Grid, Launch, Tensor};
///
/// #[kernel]
/// fn scale(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>, factor: f32) {
///     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
///     let i = cx.bid::<0>();
///     y.store_masked(x.load_masked(Zero, i) * factor, i);
/// }
///
/// let device = Device::cpu();
/// let x = Tensor::full(&device, [100], 2.0)?;
/// let mut y = Tensor::poisoned(&device, [100])?;
/// scale.launch(&device, Grid::cover([100], [64]), (&x, &mut y, 1.5))?;
/// assert_eq!(y.to_vec()?, [3.0; 100]);
///
/// // The kernel tells its blocks apart by one axis: on a second one they would do each other's work.
/// let error = scale.launch(&device, (2, 2), (&x, &mut y, 1.5)).unwrap_err();
/// assert!(error.to_string().starts_with("kernel `scale` cannot run on the grid (2, 2, 1)"));
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
pub trait Launch<P: Parameters> {
    /// Launches the kernel on the device's default stream.
    ///
    /// # Errors
    /// As [`Launch::launch_on`].
    fn launch(&self, device: &Device, grid: impl Into<Grid>, arguments: impl Arguments<P>) -> Result<()> {
        self.launch_on(&device.default_stream(), grid, arguments)
    }

    /// Launches the kernel on a stream.
    ///
    /// # Errors
    /// [`Error::Grid`] and [`Error::Argument`] if the grid or an argument does not fit the kernel; on a GPU [`Error::KernelNotLoaded`],
    /// [`Error::KernelMismatch`], [`Error::AmbiguousKernel`], [`Error::Target`], [`Error::Resources`], at the kernel's first launch
    /// [`Error::PtxVersion`] or [`Error::Jit`] if the driver does not compile it, and [`Error::Trapped`] if an earlier kernel went wrong
    /// (this one would be reported by a later call); on the CPU [`Error::NotOnCpu`] and [`Error::Panicked`].
    fn launch_on(&self, stream: &Stream, grid: impl Into<Grid>, arguments: impl Arguments<P>) -> Result<()>;
}

/// Launches a kernel that is an `unsafe fn`.
pub trait LaunchUnsafe<P: Parameters> {
    /// Launches the kernel on the device's default stream.
    ///
    /// # Errors
    /// As [`Launch::launch_on`].
    ///
    /// # Safety
    /// The kernel's own contract, stated in its documentation, is met for this grid and these arguments; on a stream that captures a
    /// [`Graph`](crate::Graph), by each launch of the graph.
    unsafe fn launch(
        &self,
        device: &Device,
        grid: impl Into<Grid>,
        arguments: impl Arguments<P>,
    ) -> Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { self.launch_on(&device.default_stream(), grid, arguments) }
    }

    /// Launches the kernel on a stream.
    ///
    /// # Errors
    /// As [`Launch::launch_on`].
    ///
    /// # Safety
    /// The kernel's own contract, stated in its documentation, is met for this grid and these arguments; on a stream that captures a
    /// [`Graph`](crate::Graph), by each launch of the graph.
    unsafe fn launch_on(
        &self,
        stream: &Stream,
        grid: impl Into<Grid>,
        arguments: impl Arguments<P>,
    ) -> Result<()>;
}

impl<P: Parameters> Launch<P> for Kernel<P> {
    fn launch_on(&self, stream: &Stream, grid: impl Into<Grid>, arguments: impl Arguments<P>) -> Result<()> {
        // SAFETY: a `Kernel` is made of a safe function, which has no contract beyond its parameters' types.
        unsafe { launch(self, stream, grid.into(), arguments) }
    }
}

impl<P: Parameters> LaunchUnsafe<P> for UnsafeKernel<P> {
    unsafe fn launch_on(
        &self,
        stream: &Stream,
        grid: impl Into<Grid>,
        arguments: impl Arguments<P>,
    ) -> Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { launch(self.as_kernel(), stream, grid.into(), arguments) }
    }
}

/// Checks the launch and gives it to the stream.
///
/// It is compiled for each kernel and each kind of arguments. What is the same for all of them is in [`Checked`].
///
/// # Safety
/// The kernel's own contract is met.
unsafe fn launch<P: Parameters>(
    kernel: &Kernel<P>,
    stream: &Stream,
    grid: Grid,
    mut arguments: impl Arguments<P>,
) -> Result<()> {
    let launch = Checked::new(kernel.description(), stream, grid)?;
    let resolved = arguments.resolve(&launch.launching());
    let parts = resolved.map_err(|problem| in_place(launch.kernel, problem))?.into_parts();
    // SAFETY: the parts are those of the kernel's parameters, whose memory is the kernel's to use: `resolve` has entered the use of each tensor,
    // and `arguments` lives to the end of this call. The caller vouches for the kernel's own contract.
    unsafe { launch.start(&Work { kernel: *kernel, parts }) }
}

/// A launch whose grid fits the kernel.
struct Checked<'launch> {
    kernel: &'launch Description,
    stream: &'launch Stream,
    blocks: [u32; 3],
    maps: Maps<'launch>,
    /// Until the launch has been given to the stream nobody drops the tensor maps that its arguments find.
    _held: Option<RwLockReadGuard<'launch, ()>>,
}

/// Who has the tensor maps of a launch.
enum Maps<'launch> {
    None,
    OfStream(StreamMaps<'launch>),
    OfGraph(&'launch Recording),
}

impl<'launch> Checked<'launch> {
    fn new(kernel: &'launch Description, stream: &'launch Stream, grid: Grid) -> Result<Self> {
        let blocks = grid.for_kernel(kernel)?;
        if stream.as_gpu().is_none() {
            check_cpu(kernel)?;
        }
        let (maps, held) = match (stream.recording(), stream.as_gpu()) {
            (Some(recording), _) => (Maps::OfGraph(recording), None),
            (None, Some((gpu, stream))) => {
                (Maps::OfStream(StreamMaps(gpu, stream)), Some(gpu.hold_tensor_maps()?))
            }
            (None, None) => (Maps::None, None),
        };
        Ok(Self { kernel, stream, blocks, maps, _held: held })
    }

    /// What the arguments are resolved for.
    fn launching(&self) -> Launching<'_, Stream> {
        let maps: &dyn MapKeeper = match &self.maps {
            Maps::None => &NoMaps,
            Maps::OfStream(maps) => maps,
            Maps::OfGraph(recording) => *recording,
        };
        Launching { stream: self.stream, maps }
    }

    /// Runs all blocks on the CPU, or gives the kernel and its parameters to the GPU's stream; with a line about it if that is wanted. A stream
    /// that records notes both.
    ///
    /// # Safety
    /// The work is the kernel's. The memory that its parameters point to is the kernel's to use, in the stream's order, until the kernel has
    /// ended. The kernel's own contract is met.
    unsafe fn start(self, work: &dyn Prepared) -> Result<()> {
        if self.blocks.contains(&0) {
            return Ok(());
        }
        let wanted = trace::wanted();
        if let Some(recording) = self.stream.recording() {
            if wanted != Trace::Off {
                trace::show(&self.line()?);
            }
            return recording.launch(self.kernel, self.blocks, work);
        }
        #[cfg(feature = "nvtx")]
        let _range = nvtx::launch_range(self.kernel.path);
        // SAFETY: the same contract. It is called once.
        let give = || unsafe { self.give(work) };
        match wanted {
            Trace::Off => give(),
            Trace::Launches => {
                trace::show(&self.line()?);
                give()
            }
            Trace::Times => {
                // Before the clock starts: this compiles a kernel that has not been launched before.
                let line = self.line()?;
                let start = self.stream.record_event()?;
                give()?;
                trace::show_with(&line, self.stream.record_event()?.elapsed_since(&start)?);
                Ok(())
            }
        }
    }

    /// The launch as a line of text.
    fn line(&self) -> Result<Line> {
        let (threads, place) = match self.stream.as_gpu() {
            None => (1, "CPU".to_owned()),
            Some((gpu, stream)) => (gpu.threads(self.kernel)?, format!("{gpu}, {stream}")),
        };
        let place = match self.stream.recording() {
            None => place,
            Some(_) => format!("captured for {}", self.stream.device().short_name()),
        };
        Ok(Line { kernel: self.kernel.path, blocks: self.blocks, threads, place })
    }

    /// # Safety
    /// As [`Checked::start`].
    unsafe fn give(&self, work: &dyn Prepared) -> Result<()> {
        match self.stream.as_gpu() {
            // Blocks that share a producer on a GPU run by themselves here, each with a pipeline of its own.
            None => {
                let [x, y, z] = self.blocks;
                // SAFETY: each block runs once, the grid was checked against the kernel's rank, and the caller vouches for the rest.
                let block = |position| unsafe { work.run_block(position) };
                cpu::run(self.kernel.name, [x * self.kernel.blocks_of_producer(), y, z], &block)
            }
            // SAFETY: the same contract. The copies of the parameters live to the end of this call.
            Some((gpu, stream)) => unsafe {
                stream.launch(gpu, self.kernel, self.blocks, &mut work.parameters().addresses())
            },
        }
    }
}
