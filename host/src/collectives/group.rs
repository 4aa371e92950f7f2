//! Calls that are made together.

use std::sync::Arc;

use super::call::{Buffers, Call, Kind};
use super::communicator::{Communicator, Member};
use super::element::{Reduce, Reduction, Transfer, Type};
use super::error::{CollectiveError, Result};
use super::nccl::{self, Command};
use crate::device::Device;
use crate::error::ArgumentError;
use crate::stream::Stream;
use crate::tensor::{Storage, TensorView, TensorViewMut};

/// Calls that are made together, by [`Group::run`]: of several ranks that one thread has, or of one rank that sends and receives at the
/// same time.
///
/// The group borrows the tensors until then. Its methods are those of [`Communicator`] of the same names, and check the arguments.
///
/// ```
/// use std::time::Duration;
///
/// use cuda_tiles_host::collectives::{CollectiveError, Communicator, Group, Reduction};
/// use cuda_tiles_host::{Device, Tensor};
///
/// let ranks = Communicator::all(&vec![Device::cpu(); 3], Duration::from_secs(10))?;
/// let make = |rank: &Communicator| Tensor::full(rank.device(), [4], 1.5_f64);
/// let mut tensors = ranks.iter().map(make).collect::<Result<Vec<_>, _>>()?;
///
/// let mut group = Group::new();
/// for (rank, x) in ranks.iter().zip(&mut tensors) {
///     group.all_reduce_in_place(rank, &rank.device().default_stream(), Reduction::Sum, x)?;
/// }
/// group.run()?;
/// for (rank, x) in ranks.iter().zip(&tensors) {
///     rank.synchronize(&rank.device().default_stream())?;
///     assert_eq!(x.to_vec()?, [4.5; 4]);
/// }
/// # Ok::<(), CollectiveError>(())
/// ```
#[derive(Default)]
#[must_use = "nothing happens before `run`"]
#[doc(alias("ncclGroupStart", "ncclGroupEnd"))]
pub struct Group<'tensors> {
    calls: Vec<Prepared<'tensors>>,
}

/// A call whose arguments fit.
struct Prepared<'tensors> {
    member: Arc<Member>,
    stream: Stream,
    call: Call,
    memory: Memory<'tensors>,
}

/// The tensors of a call.
enum Memory<'tensors> {
    Both(Source<'tensors>, Target<'tensors>),
    InPlace(Target<'tensors>),
    Source(Source<'tensors>),
}

struct Source<'tensor> {
    storage: &'tensor Storage,
    place: Place,
}

struct Target<'tensor> {
    storage: &'tensor mut Storage,
    place: Place,
}

/// Where a tensor lies, and what is said of it.
struct Place {
    /// The first element, in bytes from the beginning of the memory.
    offset: usize,
    shape: Vec<usize>,
    packed: bool,
    device: Device,
}

impl Place {
    fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

impl<'tensor> Source<'tensor> {
    fn new<T: Transfer, const RANK: usize>(view: TensorView<'tensor, T, RANK>) -> Self {
        let place = Place {
            offset: view.layout.offset * size_of::<T>(),
            shape: view.layout.shape.to_vec(),
            packed: view.layout.is_row_major(),
            device: view.device(),
        };
        Self { storage: view.storage, place }
    }
}

impl<'tensor> Target<'tensor> {
    fn new<T: Transfer, const RANK: usize>(view: TensorViewMut<'tensor, T, RANK>) -> Self {
        let place = Source::new(view.as_view()).place;
        Self { storage: view.storage, place }
    }
}

impl<'tensors> Group<'tensors> {
    /// A group without calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn all_reduce<T: Reduce, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        reduction: Reduction,
        source: impl Into<TensorView<'tensors, T, RANK>>,
        target: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let (source, target) = (Source::new(source.into()), Target::new(target.into()));
        let kind = Kind::AllReduce(reduction);
        if source.place.shape != target.place.shape {
            let (from, to) = (&source.place.shape, &target.place.shape);
            let problem = format!("a tensor of shape {from:?} becomes one of the same shape, not of {to:?}");
            return Err(communicator.member.refused(kind, problem));
        }
        let elements = source.place.elements();
        self.add(communicator, stream, kind, elements, Type::reducible::<T>(), Memory::Both(source, target))
    }

    /// As [`Communicator::all_reduce_in_place`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn all_reduce_in_place<T: Reduce, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        reduction: Reduction,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let target = Target::new(tensor.into());
        let (kind, elements) = (Kind::AllReduce(reduction), target.place.elements());
        self.add(communicator, stream, kind, elements, Type::reducible::<T>(), Memory::InPlace(target))
    }

    /// As [`Communicator::all_gather`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn all_gather<T: Transfer, const PART: usize, const WHOLE: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        part: impl Into<TensorView<'tensors, T, PART>>,
        whole: impl Into<TensorViewMut<'tensors, T, WHOLE>>,
    ) -> Result<()> {
        let (part, whole) = (Source::new(part.into()), Target::new(whole.into()));
        check_parts(&communicator.member, Kind::AllGather, &part.place, &whole.place)?;
        let elements = part.place.elements();
        let memory = Memory::Both(part, whole);
        self.add(communicator, stream, Kind::AllGather, elements, Type::of::<T>(), memory)
    }

    /// As [`Communicator::all_gather_in_place`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn all_gather_in_place<T: Transfer, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        whole: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let whole = Target::new(whole.into());
        let elements = part_of(&communicator.member, Kind::AllGather, &whole.place)?;
        let memory = Memory::InPlace(whole);
        self.add(communicator, stream, Kind::AllGather, elements, Type::of::<T>(), memory)
    }

    /// As [`Communicator::reduce_scatter`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn reduce_scatter<T: Reduce, const WHOLE: usize, const PART: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        reduction: Reduction,
        whole: impl Into<TensorView<'tensors, T, WHOLE>>,
        part: impl Into<TensorViewMut<'tensors, T, PART>>,
    ) -> Result<()> {
        let (whole, part) = (Source::new(whole.into()), Target::new(part.into()));
        let kind = Kind::ReduceScatter(reduction);
        check_parts(&communicator.member, kind, &part.place, &whole.place)?;
        let elements = part.place.elements();
        self.add(communicator, stream, kind, elements, Type::reducible::<T>(), Memory::Both(whole, part))
    }

    /// As [`Communicator::reduce_scatter_in_place`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn reduce_scatter_in_place<T: Reduce, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        reduction: Reduction,
        whole: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let whole = Target::new(whole.into());
        let kind = Kind::ReduceScatter(reduction);
        let elements = part_of(&communicator.member, kind, &whole.place)?;
        self.add(communicator, stream, kind, elements, Type::reducible::<T>(), Memory::InPlace(whole))
    }

    /// As [`Communicator::broadcast`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn broadcast<T: Transfer, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        root: usize,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let target = Target::new(tensor.into());
        let elements = target.place.elements();
        let memory = Memory::InPlace(target);
        self.add(communicator, stream, Kind::Broadcast { root }, elements, Type::of::<T>(), memory)
    }

    /// As [`Communicator::send`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn send<T: Transfer, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        to: usize,
        tensor: impl Into<TensorView<'tensors, T, RANK>>,
    ) -> Result<()> {
        let source = Source::new(tensor.into());
        let elements = source.place.elements();
        self.add(communicator, stream, Kind::Send { to }, elements, Type::of::<T>(), Memory::Source(source))
    }

    /// As [`Communicator::receive`].
    ///
    /// # Errors
    /// [`CollectiveError::Argument`].
    pub fn receive<T: Transfer, const RANK: usize>(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        from: usize,
        tensor: impl Into<TensorViewMut<'tensors, T, RANK>>,
    ) -> Result<()> {
        let target = Target::new(tensor.into());
        let elements = target.place.elements();
        let memory = Memory::InPlace(target);
        self.add(communicator, stream, Kind::Receive { from }, elements, Type::of::<T>(), memory)
    }

    /// Adds a call, if its ranks and devices are right and its elements lie one after the other.
    fn add(
        &mut self,
        communicator: &Communicator,
        stream: &Stream,
        kind: Kind,
        elements: usize,
        element: Type,
        memory: Memory<'tensors>,
    ) -> Result<()> {
        let member = &communicator.member;
        if let Kind::Broadcast { root: peer } | Kind::Send { to: peer } | Kind::Receive { from: peer } = kind
            && peer >= member.world_size
        {
            return Err(member.refused(kind, format!("there is no rank {peer}")));
        }
        member.check_device(kind, "the stream", &stream.device())?;
        let records = stream.recording().is_some();
        if records || stream.as_gpu().is_some_and(|(_, stream)| stream.is_captured()) {
            let problem = "the stream is captured into a graph, and what ranks do together has to run when it is called";
            return Err(member.refused(kind, problem.to_owned()));
        }
        let places = match &memory {
            Memory::Both(source, target) => [Some(&source.place), Some(&target.place)],
            Memory::InPlace(Target { place, .. }) | Memory::Source(Source { place, .. }) => {
                [Some(place), None]
            }
        };
        for place in places.into_iter().flatten() {
            member.check_device(kind, &format!("a tensor of shape {:?}", place.shape), &place.device)?;
            if !place.packed {
                let problem = format!(
                    "the elements of a tensor of shape {:?} do not lie one after the other: pass whole rows, or copy them first",
                    place.shape
                );
                return Err(member.refused(kind, problem));
            }
        }
        let call = Call { kind, elements, element };
        self.calls.push(Prepared { member: Arc::clone(member), stream: stream.clone(), call, memory });
        Ok(())
    }

    /// Makes the calls. On GPUs it returns when their streams have the work; on the CPU when it is done.
    ///
    /// # Errors
    /// [`CollectiveError::Failed`] with the first call that failed: the others are of no use then either. [`CollectiveError::Device`].
    pub fn run(mut self) -> Result<()> {
        let calls = &mut self.calls;
        let buffers = calls.iter_mut().map(Prepared::lend).collect::<Result<Vec<_>>>()?;
        let (on_gpus, on_cpu): (Vec<_>, Vec<_>) =
            (0..buffers.len()).partition(|&place| calls[place].member.gpu.is_some());
        let failed = |place: usize, failure| {
            let Prepared { member, call, .. } = &calls[place];
            member.failed(call, failure)
        };

        let command = |&place: &usize| {
            let Prepared { member, stream, call, .. } = &calls[place];
            member.gpu.as_ref().map(|rank| Command { rank, stream, call, buffers: buffers[place] })
        };
        let commands: Vec<_> = on_gpus.iter().filter_map(command).collect();
        // SAFETY: `lend` has entered the streams' use of the tensors, which are borrowed by `self`. They have as many elements as the calls say.
        unsafe { nccl::run(&commands) }.map_err(|(number, failure)| failed(on_gpus[number], failure))?;

        let mut tickets = Vec::with_capacity(on_cpu.len());
        for &place in &on_cpu {
            let Prepared { member, call, .. } = &calls[place];
            // SAFETY: as above; a failure ends the use of all buffers, and all tickets are waited for below.
            let ticket = unsafe { member.world.ask(member.rank, call, buffers[place]) };
            match ticket {
                Ok(ticket) => tickets.push((place, ticket)),
                Err(failure) => {
                    // The communicators of calls before this one may be others, which have not failed.
                    for (place, _) in tickets {
                        let _ = calls[place].member.world.fail(failure.clone());
                    }
                    return Err(failed(place, failure));
                }
            }
        }
        let mut result = Ok(());
        for (place, ticket) in tickets {
            let Member { world, timeout, .. } = &*calls[place].member;
            let done = world.wait(ticket, *timeout);
            result = result.and(done.map_err(|failure| failed(place, failure)));
        }
        result
    }
}

impl Prepared<'_> {
    /// Enters the stream's use of the tensors.
    fn lend(&mut self) -> Result<Buffers> {
        let stream = &self.stream;
        let read = |source: &Source| -> Result<*mut u8> {
            Ok(source.storage.lend(stream).map_err(device_error)?.wrapping_add(source.place.offset))
        };
        let write = |target: &mut Target| -> Result<*mut u8> {
            Ok(target.storage.lend_mut(stream).map_err(device_error)?.wrapping_add(target.place.offset))
        };
        Ok(match (&mut self.memory, self.call.kind) {
            (Memory::Both(source, target), _) => Buffers { source: read(source)?, target: write(target)? },
            // Nothing is written there.
            (Memory::Source(source), _) => {
                Buffers { source: read(source)?, target: std::ptr::dangling_mut() }
            }
            (Memory::InPlace(whole), kind) => {
                let whole = write(whole)?;
                let part = |bytes| whole.wrapping_add(self.member.rank * bytes);
                match kind {
                    Kind::AllGather => Buffers { source: part(self.call.bytes()), target: whole },
                    Kind::ReduceScatter(_) => Buffers { source: whole, target: part(self.call.bytes()) },
                    _ => Buffers { source: whole, target: whole },
                }
            }
        })
    }
}

/// The devices were compared before: what is left is a failure of one.
fn device_error(error: ArgumentError) -> CollectiveError {
    match error {
        ArgumentError::Device(error) => CollectiveError::Device(error),
        other => CollectiveError::Device(crate::error::Error::Operands {
            operation: "a call between ranks",
            problem: other.to_string(),
        }),
    }
}

/// Refuses a whole that does not have one part for each rank.
fn check_parts(member: &Member, kind: Kind, part: &Place, whole: &Place) -> Result<()> {
    let ranks = member.world_size;
    let (part, whole) = (&part.shape[..], &whole.shape[..]);
    let stacked = whole.split_first().is_some_and(|(&first, rest)| first == ranks && rest == part);
    let joined = match (whole, part) {
        ([all, rest @ ..], [one, other @ ..]) => one.checked_mul(ranks) == Some(*all) && rest == other,
        _ => false,
    };
    if stacked || joined {
        return Ok(());
    }
    let mut expected = part.to_vec();
    match expected.first_mut() {
        Some(first) => *first = first.saturating_mul(ranks),
        None => expected.push(ranks),
    }
    let problem = format!(
        "with {ranks} ranks, each of which has a part of shape {part:?}, the whole has shape {expected:?}, or one more axis of {ranks} \
         in front, and not shape {whole:?}"
    );
    Err(member.refused(kind, problem))
}

/// The elements of a rank's part of a whole.
fn part_of(member: &Member, kind: Kind, whole: &Place) -> Result<usize> {
    let ranks = member.world_size;
    match whole.shape.first() {
        Some(rows) if rows.is_multiple_of(ranks) => Ok(whole.elements() / ranks),
        _ => {
            let shape = &whole.shape;
            let problem =
                format!("a tensor of shape {shape:?} is not {ranks} equal parts along its first axis");
            Err(member.refused(kind, problem))
        }
    }
}
