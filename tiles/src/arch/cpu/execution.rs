//! Blocks of one thread.

use super::partitions::Partitions;
use super::running::Run;
use core::fmt;

/// A block's place in the grid.
#[derive(Clone, Copy)]
pub struct Place {
    index: [u32; 3],
    count: [u32; 3],
    partitions: Option<&'static Partitions>,
    run: Run,
}

impl Place {
    /// The block that this thread is in, as number `index` of a grid of `count` blocks, whose launch keeps this record.
    pub fn new(index: [u32; 3], count: [u32; 3], partitions: Option<&'static Partitions>) -> Self {
        Self { index, count, partitions, run: Run::current() }
    }

    /// The record of how the launch's blocks cut writable tensors.
    pub fn partitions(self) -> Option<&'static Partitions> {
        self.partitions
    }

    /// The run of the block.
    pub fn run(self) -> Run {
        self.run
    }

    /// The index along `axis`.
    pub fn block_index(self, axis: usize) -> u32 {
        self.index[axis]
    }

    /// The number of blocks along `axis`.
    pub fn block_count(self, axis: usize) -> u32 {
        self.count[axis]
    }
}

/// The number of the only thread.
#[inline(always)]
pub fn thread() -> usize {
    0
}

/// Waits for nobody.
///
/// # Safety
/// None needed here; on a GPU every thread of the block must execute the same call.
#[inline(always)]
pub unsafe fn barrier(_threads: u32) {}

/// Waits for nobody.
///
/// # Safety
/// As above.
#[inline(always)]
pub unsafe fn named_barrier(_barrier: u32, _threads: u32) {}

/// Waits for nobody.
///
/// # Safety
/// As above.
#[inline(always)]
pub unsafe fn barrier_of_all() {}

macro_rules! exchanges {
    ($($name:ident)*) => { $(
        /// The value of another lane; a block of one thread has none and never asks.
        ///
        /// # Safety
        /// None needed here; on a GPU all lanes of the warp must execute the same call.
        pub unsafe fn $name(_value: u32, _lane: u32) -> u32 {
            unreachable!("a block of one thread has no other lane")
        }
    )* };
}
exchanges!(exchange shift_up shift_down from_lane);

/// The value. Loops over a CPU's tile stay loops anyhow.
#[inline(always)]
pub fn opaque(value: u32) -> u32 {
    value
}

/// The value.
#[inline(always)]
pub fn rematerialise(value: u32) -> u32 {
    value
}

/// The pointer.
#[inline(always)]
pub fn anew_pointer<T>(pointer: *const T) -> *const T {
    pointer
}

/// Waits for nothing: on the CPU a launch returns when its blocks have run.
#[inline(always)]
pub fn wait_for_dependencies() {}

/// Tells nobody.
#[inline(always)]
pub fn launch_dependents() {}

/// A message that is written by a closure.
struct Message<F>(F);

impl<F: Fn(&mut dyn fmt::Write) -> fmt::Result> fmt::Display for Message<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.0)(formatter)
    }
}

/// Panics because a safe operation was misused, with the message and the kernel's source line.
#[cold]
#[track_caller]
pub fn fail(message: impl Fn(&mut dyn fmt::Write) -> fmt::Result) -> ! {
    panic!("{} (at {})", Message(message), core::panic::Location::caller())
}
