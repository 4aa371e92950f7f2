//! Graphs: sequences of launches and copies that are given to a device at once.
//!
//! # Why what a graph refers to outlives it
//! Launches note addresses. A graph owns its operands: the tensors and buffers themselves, or references to them. It accepts no others
//! while it is captured. Each launch of the graph borrows the operands anew, mutably, and lists them; the borrows last until the graph has
//! been given to the stream. Only if they are the buffers that were captured, the graph runs. So a launch of a graph is to the borrow
//! checker, and to the account that memory keeps of the streams that use it, what one launch with all operands as its arguments would be.
//! What the user's code does with the operands in between, through [`Graph::operands_mut`] or other handles, cannot harm: an operand that
//! was exchanged is noticed.
//!
//! What else has addresses in a graph is its own: memory of [`workspace`](crate::workspace()), tensor maps. Code of kernels is never unloaded.

mod operands;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use operands::Operand;
pub use operands::{GraphOperands, OperandList};

use crate::access::Access;
use crate::cpu::CpuOperation;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gpu::{GpuGraph, GraphMaps};
#[cfg(feature = "nvtx")]
use crate::nvtx;
use crate::recording::{Counts, Identity, Operations, Recorded, Recording};
use crate::stream::Stream;
use crate::tensor::Storage;
use crate::trace::{self, Trace};
use crate::workspace::GraphMemory;

/// A sequence of launches and copies that is given to a device at once, as often as is wanted: a CUDA graph, or on the CPU the same sequence.
///
/// On a GPU that costs a few microseconds for the whole sequence, in place of some for each launch: it is for programs that launch many short
/// kernels again and again, with the same tensors.
///
/// [`capture`](Graph::capture) calls a function that launches and copies on a stream, as on any other. It checks all of it and runs nothing.
/// [`launch`](Graph::launch) runs it. In between the graph has the operands and lends them: [`operands`](Graph::operands),
/// [`operands_mut`](Graph::operands_mut). Numbers that are passed to kernels stay what they were in the capture, until
/// [`update`](Graph::update) captures anew.
///
/// ```
/// use cuda_tiles::prelude::*;
/// use cuda_tiles_host::{Device, Graph, Launch, Tensor};
///
/// #[kernel]
/// fn scale(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>, factor: f32) {
///     let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
///     let i = cx.bid::<0>();
///     y.store_masked(x.load_masked(Zero, i) * factor, i);
/// }
///
/// let device = Device::cpu();
/// let x = Tensor::full(&device, [100], 1.0)?;
/// let (mut between, mut y) = (Tensor::zeros(&device, [100])?, Tensor::zeros(&device, [100])?);
///
/// let mut graph = Graph::capture(&device, (x, &mut between, &mut y, 2.0), |stream, (x, between, y, factor)| {
///     scale.launch_on(stream, 2, (&*x, &mut **between, *factor))?;
///     scale.launch_on(stream, 2, (&**between, &mut **y, *factor))
/// })?;
/// graph.launch()?;
/// assert_eq!(graph.operands().2.to_vec()?, [4.0; 100]);
///
/// // Other elements in the same tensors:
/// graph.operands_mut().0.copy_from_slice(&[3.0; 100])?;
/// graph.launch()?;
/// assert_eq!(graph.operands().2.to_vec()?, [12.0; 100]);
///
/// // Other numbers, or other tensors, are captured:
/// graph.operands_mut().3 = -1.0;
/// graph.update(|stream, (x, between, y, factor)| {
///     scale.launch_on(stream, 2, (&*x, &mut **between, *factor))?;
///     scale.launch_on(stream, 2, (&**between, &mut **y, 1.0))
/// })?;
/// graph.launch()?;
/// drop(graph);
/// assert_eq!(y.to_vec()?, [-3.0; 100]);
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// What the graph has as an operand is the graph's as long as it lives:
///
/// ```compile_fail,E0502
/// # use cuda_tiles_host::{Device, Graph, Tensor};
/// # let device = Device::cpu();
/// let mut y = Tensor::<f32, 1>::zeros(&device, [100])?;
/// let mut graph = Graph::capture(&device, &mut y, |stream, y| Ok(()))?;
/// assert_eq!(y.to_vec()?, [0.0; 100]);
/// graph.launch()?;
/// # Ok::<(), cuda_tiles_host::Error>(())
/// ```
///
/// # In a capture
/// - What runs at once, and is not captured: everything but launches and copies on the capture's stream. For the graph's operands that is
///   refused, as their elements would be those of before: [`Tensor::to_vec`](crate::Tensor::to_vec), launches on other streams, and so on.
/// - A capture is one sequence: its stream waits for nothing, and has no events.
/// - [`workspace`](crate::workspace()) gives memory that is the graph's from then on. Tensors made in a capture are no operands.
/// - Kernels that were not launched before are loaded.
/// - Work that other libraries are given is not captured.
#[doc(alias(
    "CudaGraph",
    "cudaGraph",
    "CUgraph",
    "cuGraphLaunch",
    "cuStreamBeginCapture",
    "cuGraphExecUpdate"
))]
pub struct Graph<O> {
    device: Device,
    /// Before what it uses: it ends first.
    executable: Executable,
    listed: Vec<Listed>,
    /// How each of the listed operands is used.
    uses: Vec<Option<Access>>,
    counts: Counts,
    memory: GraphMemory,
    operands: O,
}

/// An operand that was captured: which memory, and how the graph may use it.
type Listed = (Identity, Access);

enum Executable {
    Cpu(Vec<CpuOperation>),
    Gpu { graph: GpuGraph, maps: Arc<GraphMaps> },
}

impl<O: GraphOperands> Graph<O> {
    /// Captures what `record` gives to the stream that it is called with. It is called once, with the operands, and nothing of it runs yet.
    ///
    /// `operands` is all that the launches and copies use: tensors, views and pinned buffers, or references to them, and numbers, in
    /// tuples, arrays, vectors, or a struct of the program's own with [`GraphOperands`].
    ///
    /// # Errors
    /// Those of `record`: launches fail as they do on other streams; [`Error::Graph`] for what cannot be captured. [`Error::Driver`] if the
    /// driver cannot make a graph of it.
    pub fn capture(
        device: &Device,
        mut operands: O,
        record: impl FnOnce(&Stream, &mut O) -> Result<()>,
    ) -> Result<Self> {
        let maps = device.as_gpu().map(|gpu| (gpu, GraphMaps::new(gpu)));
        let recording = Recording::new(maps.clone());
        let mut memory = GraphMemory::default();
        let (recorded, listed) = record_with(&recording, &mut memory, &mut operands, record)?;
        let uses = uses_of(&listed, &recorded);
        let executable = match (recorded.operations, maps) {
            (Operations::Gpu(operations), Some((gpu, maps))) => {
                Executable::Gpu { graph: GpuGraph::new(gpu, operations)?, maps }
            }
            (Operations::Cpu(operations), _) => Executable::Cpu(operations),
            (Operations::Gpu(_), None) => unreachable!("a recording without a GPU is the CPU's"),
        };
        Ok(Self {
            device: device.clone(),
            executable,
            uses,
            listed,
            counts: recorded.counts,
            memory,
            operands,
        })
    }

    /// Captures anew, with the operands as they are now: other numbers, other tensors, another sequence. Launches that were given to
    /// streams before do what they did. If that fails, the graph is what it was.
    ///
    /// Where the sequence has the same kernels and copies in the same order, only the parameters of the driver's graph change, which costs
    /// less than the launches would, one by one. Else the driver makes a new graph of it, which costs more.
    ///
    /// # Errors
    /// As [`Graph::capture`].
    pub fn update(&mut self, record: impl FnOnce(&Stream, &mut O) -> Result<()>) -> Result<()> {
        let maps = match &self.executable {
            Executable::Cpu(_) => None,
            Executable::Gpu { maps, .. } => self.device.as_gpu().map(|gpu| (gpu, Arc::clone(maps))),
        };
        let recording = Recording::new(maps);
        let (recorded, listed) = record_with(&recording, &mut self.memory, &mut self.operands, record)?;
        let uses = uses_of(&listed, &recorded);
        match (&mut self.executable, recorded.operations) {
            (Executable::Gpu { graph, .. }, Operations::Gpu(operations)) => graph.update(operations)?,
            (Executable::Cpu(known), Operations::Cpu(operations)) => *known = operations,
            _ => unreachable!("a graph is recorded for its device"),
        }
        (self.uses, self.listed, self.counts) = (uses, listed, recorded.counts);
        Ok(())
    }

    /// Launches the graph on the device's default stream.
    ///
    /// # Errors
    /// As [`Graph::launch_on`].
    pub fn launch(&mut self) -> Result<()> {
        self.launch_on(&self.device.default_stream())
    }

    /// Launches the graph on a stream of its device. On a GPU it is given to the stream and the call returns; on the CPU it returns when all has
    /// run. Launches of one graph run one after the other, on whatever streams.
    ///
    /// # Errors
    /// [`Error::Graph`] if the operands are not the tensors and buffers that were captured; [`Error::WrongDevice`]; on a GPU [`Error::Trapped`]
    /// if an earlier kernel went wrong, on the CPU [`Error::Panicked`], with which the rest of the sequence is left out.
    pub fn launch_on(&mut self, stream: &Stream) -> Result<()> {
        if stream.device() != self.device {
            let (found, expected) = (self.device.short_name(), stream.device().short_name());
            return Err(Error::WrongDevice { what: "the graph", found, other: "stream", expected });
        }
        if stream.recording().is_some() {
            return Err(failed(
                "launching a graph",
                "graphs within graphs are not captured: launch it on another stream",
            ));
        }
        #[cfg(feature = "nvtx")]
        let _range = nvtx::launch_range("graph");
        match trace::wanted() {
            Trace::Off => self.give(stream),
            Trace::Launches => {
                trace::show(&self.line(stream));
                self.give(stream)
            }
            Trace::Times => {
                let start = stream.record_event()?;
                self.give(stream)?;
                trace::show_with(&self.line(stream), stream.record_event()?.elapsed_since(&start)?);
                Ok(())
            }
        }
    }

    fn give(&mut self, stream: &Stream) -> Result<()> {
        // The borrows of the list last until the work is given.
        let list = OperandList::of(&mut self.operands, &self.device, self.listed.len());
        if let Some(changed) = list.first_difference(&self.listed) {
            return Err(failed("launching a graph", &changed));
        }
        let used = || {
            list.operands().iter().zip(&self.uses).filter_map(|(operand, access)| Some((operand, (*access)?)))
        };
        let owned = self.memory.pieces();
        match (&mut self.executable, stream.as_gpu()) {
            (Executable::Gpu { graph, maps }, Some((_, stream))) => {
                let listed = used().filter_map(|(operand, access)| Some((operand.gpu_memory()?, access)));
                let owned = owned.filter_map(|storage| match storage {
                    Storage::Gpu(memory) => Some((memory, Access::Write)),
                    Storage::Cpu(_) => None,
                });
                let mut pinned = used().filter_map(|(operand, _)| operand.gpu_pinned()).collect();
                // SAFETY: the list has all that was recorded, but for the graph's own memory. It borrows it, mutably what is written:
                // nobody else uses it before this call has given the graph to the stream. Who captured launches of unsafe kernels vouched
                // for them.
                unsafe { graph.launch(stream, listed.chain(owned), &mut pinned, maps) }
            }
            (Executable::Cpu(operations), _) => operations.iter().try_for_each(|operation| {
                // SAFETY: as above, to the end of the operation. The launch was checked when it was recorded.
                unsafe { operation.run() }
            }),
            (Executable::Gpu { .. }, None) => unreachable!("the stream is one of the graph's device"),
        }
    }

    fn line(&self, stream: &Stream) -> trace::GraphLine {
        let place = stream.as_gpu().map_or("CPU".to_owned(), |(gpu, stream)| format!("{gpu}, {stream}"));
        trace::GraphLine { launches: self.counts.launches, copies: self.counts.copies, place }
    }
}

impl<O> Graph<O> {
    /// The device that the graph was captured for.
    pub fn device(&self) -> Device {
        self.device.clone()
    }

    /// How many launches and copies the graph has. Launches without blocks are none.
    pub fn len(&self) -> usize {
        self.counts.launches + self.counts.copies
    }

    /// Whether the graph does nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operands, to be read: results of launches, for instance.
    pub fn operands(&self) -> &O {
        &self.operands
    }

    /// The operands, to be changed. New elements are seen by the next launch. Other tensors and other numbers want an [`update`](Graph::update).
    pub fn operands_mut(&mut self) -> &mut O {
        &mut self.operands
    }

    /// Ends the graph, and gives the operands back.
    pub fn into_operands(self) -> O {
        self.operands
    }
}

impl<O> fmt::Debug for Graph<O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { launches, copies } = self.counts;
        write!(formatter, "Graph of {launches} launches and {copies} copies on {}", self.device.short_name())
    }
}

/// Records with the memory of a graph, and lists the buffers on the recording's device that the operands are.
fn record_with<O: GraphOperands>(
    recording: &Arc<Recording>,
    memory: &mut GraphMemory,
    operands: &mut O,
    record: impl FnOnce(&Stream, &mut O) -> Result<()>,
) -> Result<(Recorded, Vec<Listed>)> {
    let stream = Stream::of_recording(Arc::clone(recording));
    let device = stream.device();
    let listed: Vec<Listed> =
        OperandList::of(operands, &device, 0).operands().iter().map(Operand::listed).collect();
    listed.iter().for_each(|&(identity, access)| recording.allow(identity, access));
    let _lent = memory.lend(recording);
    let recorded = recording.during(|| {
        record(&stream, operands)?;
        recording.finish()
    })?;
    match OperandList::of(operands, &device, listed.len()).first_difference(&listed) {
        None => Ok((recorded, listed)),
        Some(changed) => Err(failed("capturing a graph", &changed)),
    }
}

/// How each of the listed buffers is used.
fn uses_of(listed: &[Listed], recorded: &Recorded) -> Vec<Option<Access>> {
    let uses: &HashMap<Identity, Access> = &recorded.uses;
    listed.iter().map(|(identity, _)| uses.get(identity).copied()).collect()
}

fn failed(operation: &'static str, problem: &str) -> Error {
    Error::Graph { operation, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests;
