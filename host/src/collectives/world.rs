//! The ranks of a communicator that are in this process.
//!
//! Ranks meet here. On the CPU each brings addresses, and whoever comes last does the work for all, while the others wait. Ranks
//! on GPUs bring no addresses and do not wait: NCCL does the work. But they too are told if their calls differ, which NCCL does not notice, and
//! if another rank of the process has failed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::call::{Buffers, Call, Kind};
use super::error::Failure;

/// The ranks of a communicator that are in this process.
pub(super) struct World {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The ranks that have a communicator in this process.
    here: BTreeSet<usize>,
    /// The ranks that have dropped it.
    left: BTreeSet<usize>,
    /// How many collective calls each rank has made.
    made: BTreeMap<usize, usize>,
    /// The collective calls that not all ranks have made, in their order, and how many came before.
    collectives: VecDeque<Vec<Asked>>,
    finished: usize,
    /// Messages on their way, by sender and receiver.
    messages: BTreeMap<(usize, usize), Messages>,
    /// The numbers of calls that are not done.
    open: BTreeSet<u64>,
    tickets: u64,
    failure: Option<Failure>,
}

/// What a rank has asked for.
struct Asked {
    rank: usize,
    call: Call,
    /// Where the elements are; none on a GPU.
    buffers: Option<Buffers>,
    ticket: Ticket,
}

#[derive(Default)]
struct Messages {
    sends: VecDeque<Asked>,
    receives: VecDeque<Asked>,
}

/// The number of a call.
pub(super) type Ticket = u64;

/// The end of a time-out that begins now. One that no clock can count ends in some years.
pub(super) fn deadline(after: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(after).unwrap_or(now + Duration::from_secs(1 << 30))
}

/// What ranks find each other by.
type Identity = [u8; 128];

impl World {
    /// The meeting place of the ranks with this identity.
    pub(super) fn of(id: &Identity, size: usize) -> Result<Arc<Self>, String> {
        static WORLDS: Mutex<BTreeMap<Identity, Weak<World>>> = Mutex::new(BTreeMap::new());

        let mut worlds = WORLDS.lock().unwrap_or_else(PoisonError::into_inner);
        worlds.retain(|_, world| world.strong_count() > 0);
        if let Some(world) = worlds.get(id).and_then(Weak::upgrade) {
            return match world.size == size {
                true => Ok(world),
                false => Err(format!("another rank of the same identity says that there are {}", world.size)),
            };
        }
        let world = Arc::new(Self { size, state: Mutex::default(), changed: Condvar::new() });
        worlds.insert(*id, Arc::downgrade(&world));
        Ok(world)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a rank.
    pub(super) fn join(&self, rank: usize) -> Result<(), String> {
        let mut state = self.state();
        if state.left.contains(&rank) || !state.here.insert(rank) {
            return Err("another communicator of the same identity has this rank: ranks differ, and each \
                        group of communicators has an identity of its own"
                .to_owned());
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until all ranks are there.
    pub(super) fn wait_for_all(&self, after: Duration) -> Result<(), Failure> {
        let deadline = deadline(after);
        let mut state = self.state();
        loop {
            let missing: Vec<_> = (0..self.size)
                .filter(|rank| !state.here.contains(rank) && !state.left.contains(rank))
                .collect();
            if missing.is_empty() {
                return Ok(());
            }
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let operation = "`Communicator::new`".to_owned();
            let timed_out = || Failure::TimedOut { operation, after, missing };
            state = self.wait_until(state, deadline, timed_out)?;
        }
    }

    /// Removes a rank.
    pub(super) fn leave(&self, rank: usize) {
        let mut state = self.state();
        state.here.remove(&rank);
        state.left.insert(rank);
        self.changed.notify_all();
    }

    /// Why the ranks are of no use to each other any more.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }

    /// Ends all that ranks wait for. What has failed first is the result.
    pub(super) fn fail(&self, failure: Failure) -> Failure {
        self.fail_in(&mut self.state(), failure)
    }

    fn fail_in(&self, state: &mut State, failure: Failure) -> Failure {
        let first = state.failure.get_or_insert(failure).clone();
        // From here on nobody uses the addresses of ranks, which now return.
        state.collectives.clear();
        state.messages.clear();
        self.changed.notify_all();
        first
    }

    /// Tells the other ranks of a call on GPUs, whose work is NCCL's.
    pub(super) fn tell(&self, rank: usize, call: &Call) -> Result<(), Failure> {
        // SAFETY: there are no buffers.
        unsafe { self.enter(rank, call, None) }.map(|_| ())
    }

    /// Makes a call on the CPU. If it is the last one of those that belong together, their work is done.
    ///
    /// # Safety
    /// The buffers are valid for what the call says, and nobody else uses them, until [`World::wait`] has returned for the ticket, which the
    /// caller waits for.
    pub(super) unsafe fn ask(&self, rank: usize, call: &Call, buffers: Buffers) -> Result<Ticket, Failure> {
        // SAFETY: the same contract.
        unsafe { self.enter(rank, call, Some(buffers)) }
    }

    /// # Safety
    /// As [`World::ask`], if there are buffers.
    unsafe fn enter(&self, rank: usize, call: &Call, buffers: Option<Buffers>) -> Result<Ticket, Failure> {
        let mut state = self.state();
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        let ticket = state.tickets;
        state.tickets += 1;
        state.open.insert(ticket);
        let asked = Asked { rank, call: call.clone(), buffers, ticket };
        match call.route(rank) {
            None => self.ask_all(&mut state, asked)?,
            Some((from, to)) => {
                // On GPUs nothing is known of ranks in other processes.
                let meet = buffers.is_some() || [from, to].iter().all(|rank| state.here.contains(rank));
                if meet {
                    self.ask_one(&mut state, asked, (from, to))?;
                }
            }
        }
        if buffers.is_none() {
            state.open.remove(&ticket);
        }
        Ok(ticket)
    }

    /// A call that all ranks make.
    fn ask_all(&self, state: &mut State, asked: Asked) -> Result<(), Failure> {
        let made = state.made.entry(asked.rank).or_default();
        *made = (*made).max(state.finished);
        let place = *made - state.finished;
        *made += 1;
        if place == state.collectives.len() {
            state.collectives.push_back(Vec::new());
        }
        if let Some(other) =
            state.collectives[place].iter().find(|other| !other.call.agrees_with(&asked.call))
        {
            let failure = disagreement(other, &asked);
            return Err(self.fail_in(state, failure));
        }
        state.collectives[place].push(asked);
        while let Some(ranks) = state.collectives.front() {
            let on_gpus = ranks.iter().all(|asked| asked.buffers.is_none());
            let complete = match on_gpus {
                true => state.here.iter().all(|rank| ranks.iter().any(|asked| asked.rank == *rank)),
                false => ranks.len() == self.size,
            };
            if !complete {
                break;
            }
            let mut ranks = state.collectives.pop_front().unwrap_or_default();
            state.finished += 1;
            ranks.sort_by_key(|asked| asked.rank);
            // SAFETY: each rank waits, or is about to, with the lock held by this one; `ask` was promised that its buffers are valid.
            unsafe { perform(&ranks) };
            self.close(state, &ranks);
        }
        Ok(())
    }

    /// A call that one other rank answers.
    fn ask_one(&self, state: &mut State, asked: Asked, route: (usize, usize)) -> Result<(), Failure> {
        let messages = state.messages.entry(route).or_default();
        match asked.call.kind {
            Kind::Send { .. } => messages.sends.push_back(asked),
            _ => messages.receives.push_back(asked),
        }
        if messages.sends.is_empty() || messages.receives.is_empty() {
            return Ok(());
        }
        let pair = [messages.sends.pop_front(), messages.receives.pop_front()];
        let pair: Vec<_> = pair.into_iter().flatten().collect();
        if !pair[0].call.agrees_with(&pair[1].call) {
            let failure = disagreement(&pair[0], &pair[1]);
            return Err(self.fail_in(state, failure));
        }
        if let (Some(send), Some(receive)) = (pair[0].buffers, pair[1].buffers) {
            // SAFETY: as in `ask_all`, and a rank lends what it receives mutably, so that it is nobody's source.
            unsafe { send.source.copy_to_nonoverlapping(receive.target, pair[0].call.bytes()) };
        }
        self.close(state, &pair);
        Ok(())
    }

    fn close(&self, state: &mut State, done: &[Asked]) {
        for asked in done {
            state.open.remove(&asked.ticket);
        }
        self.changed.notify_all();
    }

    /// Waits until a call is done.
    pub(super) fn wait(&self, ticket: Ticket, after: Duration) -> Result<(), Failure> {
        let deadline = deadline(after);
        let mut state = self.state();
        loop {
            if !state.open.contains(&ticket) {
                return Ok(());
            }
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            let (operation, missing) = state.missing(ticket, self.size);
            if let Some(&rank) = missing.iter().find(|rank| state.left.contains(rank)) {
                return Err(self.fail_in(&mut state, Failure::Left { rank, operation }));
            }
            let timed_out = || Failure::TimedOut { operation, after, missing };
            state = self.wait_until(state, deadline, timed_out)?;
        }
    }

    /// Waits for a change, or fails if it is too late.
    fn wait_until<'state>(
        &self,
        mut state: MutexGuard<'state, State>,
        deadline: Instant,
        timed_out: impl FnOnce() -> Failure,
    ) -> Result<MutexGuard<'state, State>, Failure> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.fail_in(&mut state, timed_out()));
        }
        Ok(self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl State {
    /// An open call, and the ranks that it waits for. Another rank's half of a message is named as this rank wants it.
    fn missing(&self, ticket: Ticket, size: usize) -> (String, Vec<usize>) {
        let is_it = |asked: &&Asked| asked.ticket == ticket;
        for ranks in &self.collectives {
            if let Some(asked) = ranks.iter().find(is_it) {
                let missing = (0..size).filter(|rank| ranks.iter().all(|asked| asked.rank != *rank));
                return (asked.call.to_string(), missing.collect());
            }
        }
        for (&(from, to), messages) in &self.messages {
            if messages.sends.iter().any(|asked| asked.ticket == ticket) {
                return (format!("receive from rank {from}"), vec![to]);
            }
            if messages.receives.iter().any(|asked| asked.ticket == ticket) {
                return (format!("send to rank {to}"), vec![from]);
            }
        }
        (String::from("a call"), Vec::new())
    }
}

fn disagreement(one: &Asked, other: &Asked) -> Failure {
    let (one, other) = if one.rank <= other.rank { (one, other) } else { (other, one) };
    Failure::Disagreement {
        ranks: [one.rank, other.rank],
        calls: [one.call.to_string(), other.call.to_string()],
    }
}

/// Does the work of a collective call, whose ranks are all there and in order. On GPUs it is NCCL's.
///
/// # Safety
/// The buffers of each rank are valid for what its call says, and nobody uses them.
unsafe fn perform(ranks: &[Asked]) {
    let buffers: Vec<Buffers> = ranks.iter().filter_map(|asked| asked.buffers).collect();
    if buffers.is_empty() {
        return;
    }
    let call = &ranks[0].call;
    let part = call.bytes();
    let targets: Vec<_> = buffers.iter().map(|buffers| buffers.target).collect();
    let reduce = |reduction, first: usize, targets: &[*mut u8]| {
        // SAFETY: the part of each source begins inside it.
        let sources: Vec<_> = buffers.iter().map(|buffers| unsafe { buffers.source.add(first) }).collect();
        if let Some(reducible) = call.element.reducible {
            // SAFETY: the caller vouches for the buffers. What a rank does in place has the same elements as source and target.
            unsafe { (reducible.reduce)(reduction, &sources, targets, call.elements) };
        }
    };
    match call.kind {
        Kind::AllReduce(reduction) => reduce(reduction, 0, &targets),
        Kind::ReduceScatter(reduction) => {
            for (rank, target) in targets.iter().enumerate() {
                reduce(reduction, rank * part, &[*target]);
            }
        }
        Kind::AllGather => {
            for (rank, from) in buffers.iter().enumerate() {
                for target in &targets {
                    // SAFETY: the part lies in the target. In place it is its own source.
                    unsafe { from.source.copy_to(target.add(rank * part), part) };
                }
            }
        }
        Kind::Broadcast { root } => {
            for target in &targets {
                // SAFETY: the caller vouches for the buffers. That of the root is its own source.
                unsafe { buffers[root].source.copy_to(*target, part) };
            }
        }
        Kind::Send { .. } | Kind::Receive { .. } => (),
    }
}
