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

/// All producer threads of a block that shares them with no other.
pub(crate) struct ProducerThreads<B>(PhantomData<B>);

impl<B: Block> Copiers for ProducerThreads<B> {
    const THREADS: usize = B::PRODUCER_THREADS as usize;

    #[inline_on_device]
    fn thread() -> usize {
        // The threads of the block come first.
        execution::thread() - const { <B::Threads as PowerOfTwo>::COUNT }
    }
}

/// A producer warp.
pub(crate) struct ProducerWarp;

impl Copiers for ProducerWarp {
    const THREADS: usize = 32;

    #[inline_on_device]
    fn thread() -> usize {
        threads::lane(execution::thread() as u32) as usize
    }
}
