//! Blocks of one thread.

use super::order::number_of_cut;
use super::partitions::{Noted, Partitions, WORDS};
use super::running::Run;

pub use super::messages::fail;

/// A block's place in the grid.
#[derive(Clone, Copy)]
pub struct Place {
    index: [u32; 3],
    count: [u32; 3],
    partitions: Option<&'static Partitions>,
    run: Run,
}

impl Place {
    /// The place of the block with index `index` in a grid of `count` blocks. The launch keeps the record.
    pub fn new(index: [u32; 3], count: [u32; 3], partitions: Option<&'static Partitions>) -> Self {
        Self { index, count, partitions, run: Run::current() }
    }

    /// Records the block's next cut, whose last word is the block, and compares it with the same cut of earlier blocks.
    pub fn note(self, words: &[u64; WORDS]) -> Noted {
        match (number_of_cut(), self.partitions) {
            (Some(number), Some(record)) => record.note(number, words),
            _ => Noted::Same,
        }
    }

    /// The run of the block.
    pub fn run(self) -> Run {
        self.run
    }

    /// The index along `axis`.
    pub fn block_index(self, axis: usize) -> u32 {
        self.index[axis]
    }

    /// The number of this block among the `consumers` blocks of its CTA.
    pub fn consumer(self, consumers: u32) -> u32 {
        self.index[0] % consumers
    }

    /// The index of its CTA along the first axis.
    pub fn cta_index(self, consumers: u32) -> u32 {
        self.index[0] / consumers
    }

    /// The number of CTAs along the first axis.
    pub fn cta_count(self, consumers: u32) -> u32 {
        self.count[0] / consumers
    }

    /// The number of blocks along `axis`.
    pub fn block_count(self, axis: usize) -> u32 {
        self.count[axis]
    }
}

/// The number of the only thread.
#[inline]
pub fn thread() -> usize {
    0
}

/// The number that tells the memory of a CTA's blocks apart. A block has its memory for itself.
#[inline]
pub fn consumer() -> u32 {
    0
}

/// Waits for nobody.
///
/// # Safety
/// None needed here; on a GPU every thread of the block must execute the same call.
#[inline]
pub unsafe fn barrier(_threads: u32) {}

/// Waits for nobody.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn named_barrier(_barrier: u32, _threads: u32) {}

/// The predicate of the only thread.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn barrier_all(_threads: u32, predicate: bool) -> bool {
    predicate
}

/// Waits for nobody.
///
/// # Safety
/// As above.
#[inline]
pub unsafe fn barrier_of_all() {}

macro_rules! exchanges {
    ($($name:ident)*) => { $(
        /// The value of another lane. A block of one thread has no other lane, and never asks.
        ///
        /// # Safety
        /// None needed here; on a GPU all lanes of the warp must execute the same call.
        pub unsafe fn $name(_value: u32, _lane: u32) -> u32 {
            unreachable!("a block of one thread has no other lane")
        }
    )* };
}
exchanges!(exchange shift_up shift_down from_lane);

/// The same value. A CPU's loops over a tile are not unrolled anyway.
#[inline]
pub fn opaque(value: u32) -> u32 {
    value
}

/// The lower half and the upper one.
#[inline]
pub fn halves(value: u32) -> [u16; 2] {
    [value as u16, (value >> 16) as u16]
}

/// The value.
#[inline]
pub fn rematerialise(value: u32) -> u32 {
    value
}

/// The pointer.
#[inline]
pub fn anew_pointer<T>(pointer: *const T) -> *const T {
    pointer
}

/// Does nothing: on the CPU a launch returns when its blocks have run.
#[inline]
pub fn wait_for_dependencies() {}

/// Does nothing: there are no dependent grids.
#[inline]
pub fn launch_dependents() {}
