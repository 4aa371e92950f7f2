//! The threads that copy tiles of spans: those of a block, or producer threads.

use crate::arch::{execution, threads};
use crate::layout::Block;
use crate::registers::PowerOfTwo;
use core::marker::PhantomData;

/// Threads that copy tiles together.
pub trait Copiers {
    /// The number of threads.
    const THREADS: usize;

    /// The number of this thread among them.
    fn thread() -> usize;
}

/// All threads of a block.
pub(crate) struct ThreadsOfBlock<B>(PhantomData<B>);

impl<B: Block> Copiers for ThreadsOfBlock<B> {
    const THREADS: usize = <B::Threads as PowerOfTwo>::COUNT;

    #[inline_on_device]
    fn thread() -> usize {
        execution::thread()
    }
}

/// The lanes of a warp.
pub(crate) const LANES: usize = 32;

/// The producer threads of one of so many rings of a block that shares them with no other: all of them for the only ring, else a warp.
pub(crate) struct ProducersOfRing<B, const RINGS: u32>(PhantomData<B>);

impl<B: Block, const RINGS: u32> Copiers for ProducersOfRing<B, RINGS> {
    const THREADS: usize = if RINGS == 1 { B::PRODUCER_THREADS as usize } else { LANES };

    #[inline_on_device]
    fn thread() -> usize {
        if const { RINGS == 1 } {
            // The threads of the block come first.
            execution::thread() - const { <B::Threads as PowerOfTwo>::COUNT }
        } else {
            threads::lane(execution::thread() as u32) as usize
        }
    }
}
