//! What is given to a stream that records a graph.
//!
//! Nothing of it runs, and the driver hears nothing of it, as long as the user's code does: each launch and copy is checked as any other, and
//! noted. So nothing that this code calls can break a capture, and nothing has to be taken back when it fails or panics.
//! [`Graph`](crate::Graph) makes of the notes what its device runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cuda_tiles::launch::Description;
use cuda_tiles::memory::TensorMap;

use crate::access::Access;
use crate::cpu::CpuOperation;
use crate::error::{Error, Result};
use crate::gpu::{Gpu, GpuOperation, GraphMaps};
use crate::prepared::Prepared;
use crate::tensor_maps::{MapDescription, MapKeeper};

/// Which buffer it is, of those of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    /// On the CPU the buffer's number, else its address.
    pub(crate) number: usize,
    pub(crate) bytes: usize,
}

/// The operations of a graph, in their order.
pub(crate) enum Operations {
    Cpu(Vec<CpuOperation>),
    Gpu(Vec<GpuOperation>),
}

/// One of them.
enum Operation {
    Cpu(CpuOperation),
    Gpu(GpuOperation),
}

/// How often a graph does what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) launches: usize,
    pub(crate) copies: usize,
}

/// What a recording has come to.
pub(crate) struct Recorded {
    pub(crate) operations: Operations,
    pub(crate) counts: Counts,
    /// How the buffers are used; those that are not are left out.
    pub(crate) uses: HashMap<Identity, Access>,
}

/// A graph that is being recorded.
pub(crate) struct Recording {
    /// The GPU, with the tensor maps of the graph; `None` for the CPU.
    gpu: Option<(&'static Gpu, Arc<GraphMaps>)>,
    notes: Mutex<Notes>,
}

struct Notes {
    /// `None` once the recording has ended.
    operations: Option<Operations>,
    counts: Counts,
    buffers: HashMap<Identity, Buffer>,
    /// How many have memory of the graph in hand.
    holds: usize,
}

impl Notes {
    fn check_open(&self) -> Result<()> {
        match self.operations {
            Some(_) => Ok(()),
            None => Err(has_ended()),
        }
    }
}

/// Memory of the graph is in use by the code that is recorded.
pub(crate) struct Held(Arc<Recording>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.notes().holds -= 1;
    }
}

/// A buffer that the graph may use.
struct Buffer {
    may: Access,
    used: Option<Access>,
}

thread_local! {
    /// The graphs that this thread is recording, the innermost last.
    static OF_THIS_THREAD: RefCell<Vec<Arc<Recording>>> = const { RefCell::new(Vec::new()) };
}

impl Recording {
    pub(crate) fn new(gpu: Option<(&'static Gpu, Arc<GraphMaps>)>) -> Arc<Self> {
        let operations = Some(match gpu {
            None => Operations::Cpu(Vec::new()),
            Some(_) => Operations::Gpu(Vec::new()),
        });
        let notes = Notes { operations, counts: Counts::default(), buffers: HashMap::new(), holds: 0 };
        Arc::new(Self { gpu, notes: Mutex::new(notes) })
    }

    /// The GPU that the graph is for.
    pub(crate) fn gpu(&self) -> Option<&'static Gpu> {
        self.gpu.as_ref().map(|&(gpu, _)| gpu)
    }

    /// Notes that somebody has memory of the graph in hand, until the result is dropped: the recording does not end well before.
    pub(crate) fn hold(self: &Arc<Self>) -> Result<Held> {
        let mut notes = self.notes();
        notes.check_open()?;
        notes.holds += 1;
        drop(notes);
        Ok(Held(Arc::clone(self)))
    }

    /// Lets the graph use a buffer in this way.
    pub(crate) fn allow(&self, identity: Identity, access: Access) {
        let mut notes = self.notes();
        let buffer = notes.buffers.entry(identity).or_insert(Buffer { may: access, used: None });
        buffer.may = buffer.may.and(access);
    }

    /// Calls `body`, during which this thread uses the graph's buffers in no other way.
    pub(crate) fn during<R>(self: &Arc<Self>, body: impl FnOnce() -> R) -> R {
        /// Ends the recording, also where `body` panics.
        struct End<'recording>(&'recording Recording);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                // Elsewhere there may be clones of the stream.
                self.0.notes().operations = None;
                drop(OF_THIS_THREAD.with_borrow_mut(Vec::pop));
            }
        }
        OF_THIS_THREAD.with_borrow_mut(|recordings| recordings.push(Arc::clone(self)));
        let _end = End(self);
        body()
    }

    /// What was recorded. The recording ends.
    pub(crate) fn finish(&self) -> Result<Recorded> {
        let mut notes = self.notes();
        if notes.holds > 0 {
            return Err(refused("memory of a `workspace` of the graph is still in use on another thread"));
        }
        let operations = notes.operations.take().ok_or_else(has_ended)?;
        let used = notes.buffers.iter().filter_map(|(identity, buffer)| Some((*identity, buffer.used?)));
        Ok(Recorded { operations, counts: notes.counts, uses: used.collect() })
    }

    /// Notes that the next operation uses a buffer.
    pub(crate) fn enter(&self, identity: Identity, access: Access) -> Result<()> {
        // As in a launch, what is empty is used by nobody.
        if identity.bytes == 0 {
            return Ok(());
        }
        let mut notes = self.notes();
        notes.check_open()?;
        match notes.buffers.get_mut(&identity) {
            Some(buffer) if buffer.may.and(access) == buffer.may => {
                buffer.used = Some(buffer.used.map_or(access, |used| used.and(access)));
                Ok(())
            }
            Some(_) => Err(refused("it is one of the graph's operands that may only be read")),
            None => Err(refused(
                "it is none of the graph's operands: hand it, or a reference to it, to `Graph::capture` together with the others",
            )),
        }
    }

    /// Notes a launch.
    pub(crate) fn launch(&self, kernel: &Description, grid: [u32; 3], work: &dyn Prepared) -> Result<()> {
        // Without the lock: this may load code, and show what kernels have printed by the user's function.
        let operation = match self.gpu() {
            // Blocks that share a producer on a GPU run by themselves here, each with a pipeline of its own.
            None => {
                let [x, y, z] = grid;
                let (kernel, grid) = (kernel.name, [x * kernel.blocks_of_producer(), y, z]);
                Operation::Cpu(CpuOperation::Launch { kernel, grid, work: work.boxed() })
            }
            Some(gpu) => Operation::Gpu(GpuOperation::launch(gpu, kernel, grid, work.parameters())?),
        };
        self.note(operation, |counts| counts.launches += 1)
    }

    /// Notes a copy of `bytes` bytes between memory of the device and page-locked memory of the host, whose uses were entered.
    pub(crate) fn copy(&self, source: *const u8, target: *mut u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let operation = match self.gpu {
            None => Operation::Cpu(CpuOperation::Copy { source, target, bytes }),
            Some(_) => Operation::Gpu(GpuOperation::copy(source, target, bytes)),
        };
        self.note(operation, |counts| counts.copies += 1)
    }

    fn note(&self, operation: Operation, count: impl FnOnce(&mut Counts)) -> Result<()> {
        let mut notes = self.notes();
        match (notes.operations.as_mut().ok_or_else(has_ended)?, operation) {
            (Operations::Cpu(operations), Operation::Cpu(operation)) => operations.push(operation),
            (Operations::Gpu(operations), Operation::Gpu(operation)) => operations.push(operation),
            _ => unreachable!("a recording is for one device"),
        }
        count(&mut notes.counts);
        Ok(())
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tensor maps of a graph are its own: those of other launches are dropped now and then.
impl MapKeeper for Recording {
    fn tensor_map(&self, description: &MapDescription) -> Result<*const TensorMap> {
        self.gpu.as_ref().map_or(Ok(std::ptr::null()), |(_, maps)| maps.tensor_map(description))
    }
}

/// Refuses a use of a buffer outside of the graph that this thread is recording with it. It would come before all that is recorded.
pub(crate) fn check_free(identity: impl FnOnce() -> Identity) -> Result<()> {
    OF_THIS_THREAD.with_borrow(|recordings| {
        if recordings.is_empty() {
            return Ok(());
        }
        let identity = identity();
        match recordings.iter().any(|recording| recording.notes().buffers.contains_key(&identity)) {
            true if identity.bytes > 0 => Err(refused(
                "it is an operand of the graph that is being captured, whose launches have not run: use it on the stream that `Graph::capture` \
                 hands over (copies by `copy_from_pinned` and `copy_to_pinned`), or outside of the capture",
            )),
            _ => Ok(()),
        }
    })
}

/// The error of a tensor or a buffer that cannot be used so.
fn refused(problem: &str) -> Error {
    Error::Graph { operation: "using a tensor or a pinned buffer", problem: problem.to_owned() }
}

fn has_ended() -> Error {
    let problem = "the capture that the stream belongs to has ended".to_owned();
    Error::Graph { operation: "giving work to a stream that captures", problem }
}

/// The error of what a stream cannot do while it records.
pub(crate) fn not_while_recording(operation: &'static str) -> Error {
    let problem = "the stream captures a graph, and nothing has run: do it before, or behind the graph's launch on the stream of that".to_owned();
    Error::Graph { operation, problem }
}
