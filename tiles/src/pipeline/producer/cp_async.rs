//! The producer without a producer warp: all threads of the block copy for themselves, by `cp.async`.

use crate::arch::barriers;
use crate::arch::threads::Address;
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::StageLoad;
use core::marker::PhantomData;

/// Loads on their way into the stages of a ring.
pub(crate) struct Copies<F: Iterator> {
    loads: F,
    /// The load that is copied next. After the producer's end it stays the last load, and is not copied again: the code
    /// computes its addresses unconditionally.
    next: F::Item,
    /// Whether there is a next load: the producer has not ended.
    live: bool,
    /// Whether there is a next load, and it has tiles at edges of tensors.
    edges: bool,
    /// The number of stages that are filled or being filled, and not yet waited for.
    pub(crate) ready: u32,
}

impl<F: Iterator<Item: Copy>> Copies<F> {
    /// The copies of `loads`, if there are any.
    #[inline(always)]
    pub(crate) fn new<P: StageLayout, B: Block>(mut loads: F) -> Option<Self>
    where
        F::Item: StageLoad<P>,
    {
        let next = loads.next()?;
        let edges = !next.are_whole::<B>();
        Some(Self { loads, next, live: true, edges, ready: 0 })
    }

    /// Starts to copy the next load to `stage` if it has tiles at edges of tensors. Otherwise the result starts the copies,
    /// which the caller does behind the multiplications, among which their addresses are computed.
    ///
    /// After the producer's end the group of copies is empty. The age of a group is therefore always the same when it is waited
    /// for. The caller then calls [`advance`](Self::advance).
    ///
    /// # Safety
    /// The stage exists, and is free until the group of copies has been waited for.
    #[inline(always)]
    pub(crate) unsafe fn begin<P: StageLayout, B: Block>(&self, stage: Address) -> WholeTiles<P, F::Item>
    where
        F::Item: StageLoad<P>,
    {
        if self.edges {
            // SAFETY: the stage is free by the same contract.
            unsafe { self.next.copy_with_edges::<B>(stage) }
        }
        let live = self.live && !self.edges;
        WholeTiles { start: self.next.start::<B>(stage), live, layout: PhantomData }
    }

    /// Moves to the next load.
    #[inline(always)]
    pub(crate) fn advance<P: StageLayout, B: Block>(&mut self)
    where
        F::Item: StageLoad<P>,
    {
        if self.live {
            self.ready += 1;
            match self.loads.next() {
                Some(next) => self.next = next,
                None => self.live = false,
            }
            // This stands in front of the barrier that the copies wait for. Behind the barrier, the multiplications would wait
            // for it.
            self.edges = self.live && !self.next.are_whole::<B>();
        }
    }
}

/// Copies of a stage's tiles, all of them whole. They end a group of copies.
#[must_use = "a group of copies is ended by `begin`"]
pub(crate) struct WholeTiles<P: StageLayout, I: StageLoad<P>> {
    start: I::Start,
    /// Whether there is a load to copy.
    live: bool,
    layout: PhantomData<P>,
}

impl<P: StageLayout, I: StageLoad<P>> WholeTiles<P, I> {
    /// Starts the copies, and ends their group.
    #[inline(always)]
    pub(crate) fn begin<B: Block>(self) {
        // A branch keeps the copies out of the sequence of multiplications.
        if self.live {
            // SAFETY: the tiles are whole, and the stage is free by the contract of `begin` of `Copies`, which made this.
            unsafe { I::copy_from::<B>(self.start) }
        }
        barriers::commit_copies();
    }
}
