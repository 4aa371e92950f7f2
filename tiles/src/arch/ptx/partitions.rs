//! No record of how blocks cut writable tensors: see the CPU's. It would cost every block an atomic operation on memory that
//! each launch has to clear.

use super::running::Run;

/// Whether there is a record.
pub const RECORDED: bool = false;

/// Numbers that describe a partition.
pub const WORDS: usize = 20;

/// Which writable tensor a span is a part of: nobody asks.
#[derive(Clone, Copy)]
pub struct Origin;

impl Origin {
    /// The tensor at any address.
    #[inline(always)]
    pub fn new(_address: usize) -> Self {
        Self
    }

    /// A part of it.
    #[inline(always)]
    pub fn part(self, _address: usize) -> Self {
        self
    }

    /// The run of the block.
    #[inline(always)]
    pub fn run(self) -> Run {
        Run
    }

    /// None.
    #[inline(always)]
    pub fn address(self) -> u64 {
        0
    }
}

/// No record.
pub struct Partitions;

/// Cuts that a record has room for: none is kept.
pub const MOST_CUTS: usize = 0;

/// What a record says of a cut.
pub enum Noted {
    /// Nothing against it.
    Same,
    /// The first block has made this one.
    Other([u64; WORDS]),
    /// There is no room for it.
    TooMany,
}
