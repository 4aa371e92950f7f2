//! The producer without a producer warp: all threads of the block copy for themselves, by `cp.async`.

use crate::arch::barriers;
use crate::arch::threads::Address;
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::StageLoad;

/// Loads on their way into the stages of a ring.
pub(crate) struct Copies<F: Iterator> {
    loads: F,
    /// The row and the column of this block in its cluster.
    block: [u32; 2],
    /// The load that is copied next. After the producer's end it stays the last load, and is not copied again: the code
    /// computes its addresses unconditionally.
    next: F::Item,
    /// Whether there is a next load: the producer has not ended.
    live: bool,
    /// The number of stages that are filled or being filled, and not yet waited for.
    pub(crate) ready: u32,
}

impl<F: Iterator<Item: Copy>> Copies<F> {
    /// The copies of `loads` for the block in this row and column of a cluster, if there are any.
    #[inline_on_device]
    pub(crate) fn new<P: StageLayout>(mut loads: F, block: [u32; 2]) -> Option<Self>
    where
        F::Item: StageLoad<P>,
    {
        let next = loads.next()?.of_block(block);
        Some(Self { loads, block, next, live: true, ready: 0 })
    }

    /// Where the copies of the next load to `stage` start. This is arithmetic alone, without a branch: the caller copies behind the
    /// multiplications, and the assembler puts the arithmetic among them.
    #[inline_on_device]
    pub(crate) fn start<P: StageLayout, B: Block>(&self, stage: Address) -> Start<P, F::Item>
    where
        F::Item: StageLoad<P>,
    {
        let are_whole = self.live & self.next.are_whole::<B>();
        Start { start: self.next.start::<B>(stage), are_whole, stage }
    }

    /// Starts to copy the next load, and moves to the load behind it.
    ///
    /// The copies are a group. After the producer's end the group is empty. The age of a group is therefore always the same when it is
    /// waited for.
    ///
    /// # Safety
    /// `start` is of this load. Its stage exists, and is free until the group of copies has been waited for.
    #[inline_on_device]
    pub(crate) unsafe fn copy<P: StageLayout, B: Block>(&mut self, start: Start<P, F::Item>)
    where
        F::Item: StageLoad<P>,
    {
        if start.are_whole {
            // SAFETY: the tiles are whole, and the stage is free by the same contract.
            unsafe { <F::Item as StageLoad<P>>::copy_from::<B>(start.start) }
        } else if self.live {
            // SAFETY: the stage is free by the same contract.
            unsafe { self.next.copy_with_edges::<B>(start.stage) }
        }
        barriers::commit_copies();
        if self.live {
            self.ready += 1;
            match self.loads.next() {
                Some(next) if const { B::CLUSTER_SIZE > 1 } => self.next = next.of_block(self.block),
                Some(next) => self.next = next,
                None => self.live = false,
            }
        }
    }
}

/// Where the copies of a load start.
pub(crate) struct Start<P: StageLayout, I: StageLoad<P>> {
    start: I::Start,
    /// Whether there is a load, and all its tiles are whole.
    are_whole: bool,
    stage: Address,
}
