//! The threads of a block of a thread-level kernel, which on the CPU are threads of the system.
//!
//! One of them runs the block's threads one after the other. A thread that waits for others, at a barrier or a shuffle, keeps its
//! system thread, and the next one takes over the threads that have not begun. So a kernel without barriers needs one system
//! thread, and one with barriers as many as a block has.
//!
//! Who waits for whom is known here. A wait that cannot end is a panic that says who waits where.

extern crate std;

use core::any::Any;
use core::cell::RefCell;
use core::panic::AssertUnwindSafe;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::boxed::Box;
use std::collections::{BTreeMap, HashMap};
use std::panic::{catch_unwind, resume_unwind};
use std::string::String;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::vec::Vec;
use std::{format, vec};

/// Threads of a warp.
pub const LANES: u32 = 32;

/// The most threads of a block, as on a GPU (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const MOST_THREADS: u64 = 1024;

/// What memory holds that nobody has written.
const UNWRITTEN: u8 = 0xa5;

/// The alignment of the memory that a launch asks for.
const DYNAMIC_ALIGNMENT: usize = 16;

/// A grid of blocks.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The number of blocks along each axis.
    pub blocks: [u32; 3],
    /// The number of threads of a block along each axis.
    pub threads: [u32; 3],
    /// The shared memory that the launch asks for, in bytes.
    pub shared_bytes: usize,
}

/// Where a thread is.
#[derive(Clone, Copy)]
pub struct Position {
    /// Its index in its block.
    pub thread: [u32; 3],
    /// Its block's index in the grid.
    pub block: [u32; 3],
    /// The grid.
    pub grid: Grid,
    /// Its number in its block, `x` fastest.
    pub number: u32,
}

std::thread_local! {
    static CURRENT: RefCell<Option<(Position, Arc<Team>)>> = const { RefCell::new(None) };
}

/// Where this thread is.
#[track_caller]
pub fn position() -> Position {
    current(|position, _| *position)
}

#[track_caller]
fn current<R>(ask: impl FnOnce(&Position, &Arc<Team>) -> R) -> R {
    CURRENT.with_borrow(|current| match current {
        Some((position, team)) => ask(position, team),
        None => panic!(
            "this function is for threads of a kernel, and this code is in none: on the CPU, call the kernel in \
             `cuda_tiles::cuda_std::cpu::launch`"
        ),
    })
}

/// What the members of a meeting have brought, by their numbers among those who can meet: lanes of a warp, or threads of the block.
pub type Contributions = Arc<[Option<u64>]>;

/// Waits for the lanes that `members` names, or for all threads of the block, and gives what each has brought.
///
/// # Panics
/// If this wait, or another one of the block, cannot end; and if another thread of the block panics, to end this one.
#[track_caller]
pub fn meet(members: Option<u32>, call: &'static str, brought: u64) -> Contributions {
    let (number, team) = current(|position, team| (position.number, team.clone()));
    team.meet(number, Wait { call, members, brought })
}

/// The block's memory of this name, for as long as the block runs.
#[track_caller]
pub fn memory(name: &'static str, layout: Layout) -> *mut u8 {
    current(|_, team| team.lock().memory.entry(name).or_insert_with(|| Memory::new(layout)).address)
}

/// The block's memory that the launch has asked for.
#[track_caller]
pub fn dynamic_memory() -> *mut u8 {
    let bytes = position().grid.shared_bytes;
    let layout = Layout::from_size_align(bytes, DYNAMIC_ALIGNMENT).expect("the launch has checked it");
    memory("", layout)
}

/// Memory of a block.
struct Memory {
    address: *mut u8,
    layout: Layout,
}

// SAFETY: it is a piece of the heap, which any thread may free. Who uses it vouches for its accesses.
unsafe impl Send for Memory {}

impl Memory {
    fn new(layout: Layout) -> Self {
        if layout.size() == 0 {
            return Self { address: core::ptr::without_provenance_mut(layout.align()), layout };
        }
        // SAFETY: the size is not zero.
        let address = unsafe { alloc(layout) };
        if address.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the bytes were just allocated.
        unsafe { address.write_bytes(UNWRITTEN, layout.size()) };
        Self { address, layout }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: it was allocated with this layout.
            unsafe { dealloc(self.address, self.layout) }
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy)]
struct Wait {
    /// The function that it has called.
    call: &'static str,
    /// The lanes that are to call it, or none for all threads of the block.
    members: Option<u32>,
    brought: u64,
}

enum Thread {
    Fresh,
    Running,
    Waiting(Wait),
    Resumed(Contributions),
    Ended,
}

/// Why a block ends early.
enum Failure {
    Misuse(String),
    Panic(Box<dyn Any + Send>),
}

/// What unwinds a thread whose block has failed.
struct Stopped;

struct State {
    threads: Vec<Thread>,
    /// How many threads have begun; they begin in their order.
    begun: u32,
    running: u32,
    ended: u32,
    /// Whether threads are left that nobody will begin.
    wants_worker: bool,
    failure: Option<Failure>,
    memory: HashMap<&'static str, Memory>,
}

struct Team {
    state: Mutex<State>,
    /// Somebody may go on.
    resumed: Condvar,
    /// The one who started the block has something to do.
    over: Condvar,
}

/// Runs `kernel` once for each thread of the grid, block by block.
///
/// # Panics
/// If the grid is none that a GPU could have, if a thread panics, and if threads wait for others that do not come.
///
/// # Safety
/// Threads call `kernel` at the same time. It may be called so from several threads of the system.
#[track_caller]
pub unsafe fn launch(grid: Grid, kernel: &dyn Fn()) {
    let count = |axes: [u32; 3]| axes.into_iter().map(u64::from).product::<u64>();
    let [_, y, z] = grid.blocks;
    assert!(
        grid.blocks.iter().all(|&blocks| blocks > 0)
            && grid.blocks[0] <= i32::MAX as u32
            && y.max(z) <= 0xffff,
        "a grid of {:?} blocks: a GPU has at least 1 along each axis, and at most 2147483647, 65535 and 65535",
        grid.blocks
    );
    assert!(
        grid.threads.iter().all(|&threads| threads > 0)
            && count(grid.threads) <= MOST_THREADS
            && grid.threads[2] <= 64,
        "blocks of {:?} threads: a GPU has at least 1 along each axis, at most 64 along the last, and at most 1024 in all",
        grid.threads
    );
    assert!(
        Layout::from_size_align(grid.shared_bytes, DYNAMIC_ALIGNMENT).is_ok(),
        "{} bytes of shared memory are more than there are",
        grid.shared_bytes
    );
    let kernel = Kernel(kernel);
    for z in 0..grid.blocks[2] {
        for y in 0..grid.blocks[1] {
            for x in 0..grid.blocks[0] {
                match run_block(grid, [x, y, z], &kernel) {
                    None => {}
                    Some(Failure::Misuse(message)) => panic!("block ({x}, {y}, {z}): {message}"),
                    Some(Failure::Panic(payload)) => resume_unwind(payload),
                }
            }
        }
    }
}

/// A kernel that several threads call.
struct Kernel<'a>(&'a dyn Fn());

// SAFETY: the caller of `launch` vouches for it.
unsafe impl Sync for Kernel<'_> {}

fn run_block(grid: Grid, block: [u32; 3], kernel: &Kernel<'_>) -> Option<Failure> {
    let count: u32 = grid.threads.iter().product();
    let state = State {
        threads: (0..count).map(|_| Thread::Fresh).collect(),
        begun: 0,
        running: 0,
        ended: 0,
        wants_worker: true,
        failure: None,
        memory: HashMap::new(),
    };
    let team = Arc::new(Team { state: Mutex::new(state), resumed: Condvar::new(), over: Condvar::new() });
    std::thread::scope(|scope| {
        let mut state = team.lock();
        while state.failure.is_none() && state.ended < count {
            if !core::mem::take(&mut state.wants_worker) {
                state = team.over.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            drop(state);
            let worker = std::thread::Builder::new().name("cuda_std".into());
            let started = worker.spawn_scoped(scope, || work(&team, grid, block, kernel));
            state = team.lock();
            if let Err(error) = started {
                state.fail(&team, Failure::Misuse(format!("the system gives it no more threads: {error}")));
            }
        }
    });
    team.lock().failure.take()
}

/// Runs threads of the block, each to its end, until none is left that has not begun.
fn work(team: &Arc<Team>, grid: Grid, block: [u32; 3], kernel: &Kernel<'_>) {
    let mut finished = None;
    while let Some(number) = team.next(finished.take()) {
        let [x, y, _] = grid.threads;
        let thread = [number % x, number / x % y, number / x / y];
        CURRENT.set(Some((Position { thread, block, grid, number }, team.clone())));
        let end = catch_unwind(AssertUnwindSafe(|| (kernel.0)()));
        CURRENT.set(None);
        finished = Some((number, end.err().filter(|payload| !payload.is::<Stopped>())));
    }
}

impl Team {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the thread that has ended, with what it panicked with, and begins the next.
    fn next(&self, finished: Option<(u32, Option<Box<dyn Any + Send>>)>) -> Option<u32> {
        let mut state = self.lock();
        let begins = |state: &State| state.failure.is_none() && (state.begun as usize) < state.threads.len();
        if let Some((number, payload)) = finished {
            // A thread whose block has failed may end while it waits.
            if let Thread::Running = core::mem::replace(&mut state.threads[number as usize], Thread::Ended) {
                state.running -= 1;
            }
            state.ended += 1;
            match payload {
                Some(payload) => state.fail(self, Failure::Panic(payload)),
                // Whoever waits may have waited for this end.
                None if state.failure.is_none() => state.settle(self),
                None => {}
            }
        }
        if !begins(&state) {
            self.over.notify_one();
            return None;
        }
        let number = state.begun;
        state.begun += 1;
        state.running += 1;
        state.wants_worker = false;
        state.threads[number as usize] = Thread::Running;
        Some(number)
    }

    fn meet(&self, number: u32, wait: Wait) -> Contributions {
        let mut state = self.lock();
        if state.failure.is_none() {
            if let Some(message) = state.misuse(number, wait) {
                state.fail(self, Failure::Misuse(message));
            }
            state.threads[number as usize] = Thread::Waiting(wait);
            state.running -= 1;
            state.settle(self);
        }
        loop {
            if state.failure.is_some() {
                drop(state);
                resume_unwind(Box::new(Stopped));
            }
            match core::mem::replace(&mut state.threads[number as usize], Thread::Running) {
                Thread::Resumed(contributions) => return contributions,
                other => state.threads[number as usize] = other,
            }
            state = self.resumed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    fn fail(&mut self, team: &Team, failure: Failure) {
        self.failure.get_or_insert(failure);
        team.resumed.notify_all();
        team.over.notify_one();
    }

    /// The threads of a warp that has a thread.
    fn warp_of(&self, number: u32) -> core::ops::Range<usize> {
        let first = (number - number % LANES) as usize;
        first..(first + LANES as usize).min(self.threads.len())
    }

    /// What is wrong with the lanes that a thread wants to meet.
    fn misuse(&self, number: u32, wait: Wait) -> Option<String> {
        let members = wait.members?;
        let (call, lane) = (wait.call, number % LANES);
        if members >> lane & 1 == 0 {
            return Some(format!(
                "lane {lane} of warp {} calls `{call}` with the mask {members:#x}, which does not name it",
                number / LANES
            ));
        }
        let lanes = self.warp_of(number).len();
        (u64::from(members) >> lanes != 0).then(|| {
            format!(
                "lane {lane} of warp {} calls `{call}` with the mask {members:#x}, and the warp has {lanes} lanes: \
                 threads of a block are a multiple of 32 where masks name all lanes",
                number / LANES
            )
        })
    }

    /// Lets those go on who have all met, and fails if nobody can go on any more.
    fn settle(&mut self, team: &Team) {
        let mut groups: BTreeMap<(Option<(u32, u32)>, &'static str), Vec<usize>> = BTreeMap::new();
        for (at, thread) in self.threads.iter().enumerate() {
            if let Thread::Waiting(Wait { call, members, .. }) = *thread {
                let lanes = members.map(|members| (at as u32 / LANES, members));
                groups.entry((lanes, call)).or_default().push(at);
            }
        }
        let mut goes_on = false;
        for (&(lanes, _), waiting) in &groups {
            let expected = match lanes {
                Some((_, members)) => members.count_ones(),
                None => self.threads.len() as u32 - self.ended,
            };
            if waiting.len() as u32 == expected {
                self.resume(waiting, lanes.is_some());
                goes_on = true;
            }
        }
        if goes_on {
            team.resumed.notify_all();
        } else if self.running == 0 && (self.begun as usize) < self.threads.len() {
            self.wants_worker = true;
            team.over.notify_one();
        } else if self.running == 0 && !groups.is_empty() {
            let mut message = String::from("no thread can go on:");
            for ((lanes, call), waiting) in &groups {
                let (number, first) = (waiting.len(), waiting[0]);
                let whom = match lanes {
                    Some((warp, members)) => format!("the lanes {members:#x} of warp {warp}"),
                    None => "all threads of the block".into(),
                };
                message +=
                    &format!(" {number} wait at `{call}` for {whom}, the first of them thread {first};");
            }
            message +=
                &format!(" {} have ended. All for whom one waits must get to the same call", self.ended);
            self.fail(team, Failure::Misuse(message));
        }
    }

    fn resume(&mut self, waiting: &[usize], is_warp: bool) {
        let width = if is_warp { LANES as usize } else { self.threads.len() };
        let mut contributions = vec![None; width];
        for &at in waiting {
            if let Thread::Waiting(wait) = self.threads[at] {
                contributions[at % width] = Some(wait.brought);
            }
        }
        let contributions: Contributions = contributions.into();
        for &at in waiting {
            self.threads[at] = Thread::Resumed(contributions.clone());
        }
        self.running += waiting.len() as u32;
    }
}
