//! Ranks on GPUs, by NCCL.
//!
//! Communicators are nonblocking ones: a call of NCCL returns at once, and is asked for its state until it is done or time is up. Then it
//! has given its kernels to the stream. Whether these end in time is [`watch`]ed by a thread: after that, NCCL's abort ends them.

mod library;
mod watch;

use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::call::{Buffers, Call, Kind};
use super::element::Reduction;
use super::error::{CollectiveError, Failure, Result};
use super::world::{World, deadline};
use crate::gpu::Gpu;
use crate::stream::{Event, Stream};
use library::{Code, Config, Library, RawCommunicator, UNIQUE_ID_BYTES};
use watch::Watched;

/// A rank on a GPU.
pub(super) struct GpuRank {
    library: &'static Library,
    rank: usize,
    after: Duration,
    world: Arc<World>,
    /// NCCL's communicator; none after a failure.
    handle: Mutex<Option<Handle>>,
    /// Calls whose work the stream has and may not have done yet, the oldest first.
    in_flight: Mutex<VecDeque<InFlight>>,
}

/// A communicator of NCCL, which belongs to no thread.
struct Handle(RawCommunicator);

// SAFETY: NCCL's communicators may be used on any thread, one at a time, which the lock around it sees to.
unsafe impl Send for Handle {}

struct InFlight {
    operation: String,
    end: Event,
    deadline: Instant,
}

/// A call that is about to be made.
pub(super) struct Command<'group> {
    pub(super) rank: &'group Arc<GpuRank>,
    pub(super) stream: &'group Stream,
    pub(super) call: &'group Call,
    pub(super) buffers: Buffers,
}

/// A new identity for the ranks of a communicator.
pub(super) fn unique_id() -> Result<[u8; UNIQUE_ID_BYTES]> {
    let library = library::load()?;
    library.unique_id().map_err(|code| CollectiveError::Identity { problem: library.describe(code) })
}

/// How long to wait before asking again: at first not at all.
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        match self.0 {
            0..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(100)),
        }
        self.0 += 1;
    }
}

impl GpuRank {
    /// Begins to join the other ranks; [`GpuRank::wait_until_joined`] ends it.
    pub(super) fn join(
        gpu: &'static Gpu,
        world: Arc<World>,
        rank: usize,
        world_size: usize,
        id: &[u8; UNIQUE_ID_BYTES],
        after: Duration,
    ) -> Result<Arc<Self>> {
        let library = library::load()?;
        watch::start()?;
        gpu.bind()?;
        let mut config = Config::nonblocking();
        let handle = library.join(world_size as c_int, id, rank as c_int, &mut config).map_err(|code| {
            let problem = format!("NCCL refuses it: {}", library.describe(code));
            CollectiveError::Ranks { rank, world_size, problem }
        })?;
        let (handle, in_flight) = (Mutex::new(Some(Handle(handle))), Mutex::default());
        let this = Arc::new(Self { library, rank, after, world, handle, in_flight });
        let watched: Weak<Self> = Arc::downgrade(&this);
        watch::add(watched);
        Ok(this)
    }

    /// Waits until all ranks have joined.
    pub(super) fn wait_until_joined(&self) -> Result<(), Failure> {
        let mut handle = self.handle();
        self.settle(&mut handle, "`Communicator::new`")
    }

    fn handle(&self) -> MutexGuard<'_, Option<Handle>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_flight(&self) -> MutexGuard<'_, VecDeque<InFlight>> {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until NCCL is done with what it was asked for.
    fn settle(&self, handle: &mut Option<Handle>, operation: &str) -> Result<(), Failure> {
        let deadline = deadline(self.after);
        let mut patience = Patience(0);
        loop {
            let Some(communicator) = handle.as_ref() else { return Err(self.reason()) };
            let failure = match self.state(communicator) {
                Code::SUCCESS => return Ok(()),
                Code::IN_PROGRESS if Instant::now() >= deadline => Some(self.timed_out(operation)),
                Code::IN_PROGRESS => self.world.failure(),
                code => Some(self.refused(operation, code, communicator)),
            };
            if let Some(failure) = failure {
                return Err(self.abort(handle, failure));
            }
            patience.wait();
        }
    }

    fn timed_out(&self, operation: &str) -> Failure {
        Failure::TimedOut { operation: operation.to_owned(), after: self.after, missing: Vec::new() }
    }

    /// What NCCL is doing for this rank. The lock of the handle is held.
    fn state(&self, handle: &Handle) -> Code {
        // SAFETY: a handle is taken from its place before its communicator ends, and the lock keeps others from it.
        unsafe { self.library.state(handle.0) }
    }

    fn refused(&self, operation: &str, code: Code, handle: &Handle) -> Failure {
        // SAFETY: as above.
        let message = unsafe { self.library.last_error(handle.0) };
        let (operation, code) = (operation.to_owned(), self.library.describe(code));
        Failure::Nccl { rank: self.rank, operation, code, message }
    }

    /// Why there is no communicator any more.
    fn reason(&self) -> Failure {
        let closed = || Failure::Left { rank: self.rank, operation: "any call".to_owned() };
        self.world.failure().unwrap_or_else(closed)
    }

    /// Ends all work of this rank, and tells the other ranks of the process.
    fn abort(&self, handle: &mut Option<Handle>, failure: Failure) -> Failure {
        let first = self.world.fail(failure);
        if let Some(communicator) = handle.take() {
            // SAFETY: the communicator is alive, and its handle is gone now. If it cannot be ended there is nothing more to do.
            let _ = unsafe { (self.library.abort)(communicator.0) };
        }
        self.in_flight().clear();
        first
    }

    /// Waits for all work that the stream was given.
    pub(super) fn synchronize(&self, stream: &Stream) -> Result<Result<(), Failure>> {
        let end = stream.record_event()?;
        let mut patience = Patience(0);
        loop {
            self.check();
            if let Some(failure) = self.world.failure() {
                return Ok(Err(failure));
            }
            if end.is_done()? {
                // Messages of kernels are shown, and launches forgotten.
                stream.synchronize()?;
                return Ok(Ok(()));
            }
            patience.wait();
        }
    }

    /// Ends the communicator, once its work is done or too late.
    pub(super) fn close(&self) {
        let mut patience = Patience(0);
        while self.world.failure().is_none() && self.is_busy() {
            self.check();
            patience.wait();
        }
        let mut handle = self.handle();
        let Some(communicator) = handle.as_ref() else { return };
        if self.world.failure().is_some() {
            // Another rank of this process has failed: what this one has under way cannot end by itself.
            self.abort(&mut handle, self.reason());
            return;
        }
        // SAFETY: the communicator is alive, and the lock keeps others from it.
        let begun = unsafe { (self.library.finalize)(communicator.0) };
        let ended = match begun {
            Code::SUCCESS | Code::IN_PROGRESS => self.settle(&mut handle, "the end of the communicator"),
            code => Err(self.refused("the end of the communicator", code, communicator)),
        };
        if let Some(communicator) = handle.take() {
            let end = if ended.is_ok() { self.library.destroy } else { self.library.abort };
            // SAFETY: the communicator is alive, and its handle is gone now. If it cannot be ended there is nothing more to do.
            let _ = unsafe { end(communicator.0) };
        }
    }

    /// Gives NCCL the call.
    ///
    /// # Safety
    /// The communicator is this rank's and alive. The buffers are valid for what the call says, and the stream's to use until its work is done.
    unsafe fn enqueue(&self, communicator: RawCommunicator, command: &Command) -> Code {
        let Command { stream, call, buffers: Buffers { source, target }, .. } = command;
        let stream = stream.handle();
        let library = self.library;
        // `ncclUint8`: what is only moved goes as bytes.
        const BYTE: c_int = 1;
        let bytes = call.bytes();
        let element = call.element.reducible.map_or(BYTE, |reducible| reducible.nccl_type);
        let (source, target) = (source.cast(), target.cast());
        // SAFETY: the caller vouches for the communicator, buffers and stream. Types, reductions and ranks are NCCL's.
        unsafe {
            match call.kind {
                Kind::AllReduce(reduction) => {
                    let reduction = number_of(reduction);
                    (library.all_reduce)(
                        source,
                        target,
                        call.elements,
                        element,
                        reduction,
                        communicator,
                        stream,
                    )
                }
                Kind::ReduceScatter(reduction) => {
                    let reduction = number_of(reduction);
                    (library.reduce_scatter)(
                        source,
                        target,
                        call.elements,
                        element,
                        reduction,
                        communicator,
                        stream,
                    )
                }
                Kind::AllGather => (library.all_gather)(source, target, bytes, BYTE, communicator, stream),
                Kind::Broadcast { root } => {
                    (library.broadcast)(source, target, bytes, BYTE, root as c_int, communicator, stream)
                }
                Kind::Send { to } => (library.send)(source, bytes, BYTE, to as c_int, communicator, stream),
                Kind::Receive { from } => {
                    (library.receive)(target, bytes, BYTE, from as c_int, communicator, stream)
                }
            }
        }
    }
}

impl Watched for GpuRank {
    fn is_busy(&self) -> bool {
        !self.in_flight().is_empty()
    }

    fn check(&self) {
        let late = {
            let mut in_flight = self.in_flight();
            loop {
                let Some(first) = in_flight.front() else { break None };
                match first.end.is_done() {
                    Ok(true) => drop(in_flight.pop_front()),
                    Ok(false) if Instant::now() >= first.deadline => {
                        break Some(self.timed_out(&first.operation));
                    }
                    Ok(false) => break self.world.failure(),
                    Err(error) => {
                        let (operation, problem) = (first.operation.clone(), error.to_string());
                        break Some(Failure::Gpu { rank: self.rank, operation, problem });
                    }
                }
            }
        };
        // Whoever has the lock is making a call, and looks at the state himself.
        let mut handle = match self.handle.try_lock() {
            Ok(handle) => handle,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let Some(communicator) = handle.as_ref() else { return };
        let failure = late.or_else(|| match self.state(communicator) {
            Code::SUCCESS | Code::IN_PROGRESS => None,
            code => Some(self.refused("communication", code, communicator)),
        });
        if let Some(failure) = failure {
            self.abort(&mut handle, failure);
        }
    }
}

/// The number that NCCL has for a reduction.
fn number_of(reduction: Reduction) -> c_int {
    match reduction {
        Reduction::Sum => 0,
        Reduction::Product => 1,
        Reduction::Maximum => 2,
        Reduction::Minimum => 3,
        Reduction::Average => 4,
    }
}

/// Makes calls of ranks of this thread, all together. The error says which call failed.
///
/// # Safety
/// The buffers of each call are valid for what it says, and its stream's to use, in its order, from now on until the work is done.
pub(super) unsafe fn run(commands: &[Command]) -> Result<(), (usize, Failure)> {
    let mut ranks: Vec<&Arc<GpuRank>> = commands.iter().map(|command| command.rank).collect();
    // In one order for all threads, so that none waits for another that waits for it.
    ranks.sort_by_key(|rank| Arc::as_ptr(rank));
    ranks.dedup_by(|a, b| Arc::ptr_eq(a, b));
    let mut handles: Vec<_> = ranks.iter().map(|rank| rank.handle()).collect();

    // SAFETY: the same contract.
    let made = unsafe { make(commands, &ranks, &mut handles) };
    made.map_err(|(place, failure)| {
        // What the other ranks were asked for belongs together with what failed.
        let abort = |failure, (rank, handle): (&&Arc<GpuRank>, &mut MutexGuard<'_, Option<Handle>>)| {
            rank.abort(handle, failure)
        };
        (place, ranks.iter().zip(&mut handles).fold(failure, abort))
    })
}

/// # Safety
/// As [`run`].
unsafe fn make(
    commands: &[Command],
    ranks: &[&Arc<GpuRank>],
    handles: &mut [MutexGuard<'_, Option<Handle>>],
) -> Result<(), (usize, Failure)> {
    for (place, command) in commands.iter().enumerate() {
        let rank = command.rank;
        rank.world.tell(rank.rank, command.call).map_err(|failure| (place, failure))?;
    }
    let of = |rank: &Arc<GpuRank>| ranks.iter().position(|other| Arc::ptr_eq(other, rank));
    let mut calls = Vec::with_capacity(commands.len());
    for (place, command) in commands.iter().enumerate() {
        let handle = of(command.rank).and_then(|number| handles[number].as_ref());
        let Some(communicator) = handle else { return Err((place, command.rank.reason())) };
        calls.push((command, Handle(communicator.0)));
    }
    let Some(library) = ranks.first().map(|rank| rank.library) else { return Ok(()) };
    let is_well = |code| matches!(code, Code::SUCCESS | Code::IN_PROGRESS);
    let refused = |place: usize, code| {
        let (command, communicator) = &calls[place];
        let operation = command.call.to_string();
        (place, command.rank.refused(&operation, code, communicator))
    };
    // SAFETY: the group is ended below, on the same thread.
    let started = unsafe { (library.group_start)() };
    if !is_well(started) {
        return Err(refused(0, started));
    }
    let mut first_refusal = None;
    for (place, (command, communicator)) in calls.iter().enumerate() {
        // SAFETY: the same contract; the communicators are alive, as their locks are held.
        let code = unsafe { command.rank.enqueue(communicator.0, command) };
        if !is_well(code) {
            first_refusal = Some(refused(place, code));
            break;
        }
    }
    // SAFETY: a group was started on this thread. It ends in any case.
    let ended = unsafe { (library.group_end)() };
    if let Some(refusal) = first_refusal {
        return Err(refusal);
    }
    if !is_well(ended) {
        return Err(refused(0, ended));
    }
    for (rank, handle) in ranks.iter().zip(handles) {
        let last = commands.iter().rposition(|command| Arc::ptr_eq(command.rank, rank)).unwrap_or(0);
        let operation = commands[last].call.to_string();
        rank.settle(handle, &operation).map_err(|failure| (last, failure))?;
    }
    for (place, Command { rank, stream, call, .. }) in commands.iter().enumerate() {
        let (operation, deadline) = (call.to_string(), deadline(rank.after));
        let end = stream.record_event().map_err(|error| {
            let (operation, problem) = (operation.clone(), error.to_string());
            (place, Failure::Gpu { rank: rank.rank, operation, problem })
        })?;
        rank.in_flight().push_back(InFlight { operation, end, deadline });
    }
    watch::wake();
    Ok(())
}
