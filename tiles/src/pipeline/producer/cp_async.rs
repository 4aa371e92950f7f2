//! What the threads of a block copy for themselves, where no warp copies for them.

use crate::arch::barriers;
use crate::arch::threads::Address;
use crate::layout::Block;
use crate::memory::shared_tile::StageLayout;
use crate::pipeline::producer::StageLoad;
use core::marker::PhantomData;

/// A feed on its way into the stages of a ring.
pub(crate) struct Copies<F: Iterator> {
    feed: F,
    /// The message that is copied next. At the feed's end it is the last one still, of which nothing is copied: addresses are
    /// computed from it as ever.
    next: F::Item,
    /// Whether it is there, before the feed's end.
    live: bool,
    /// Whether it is, and has tiles that are not whole.
    edges: bool,
    /// Messages that were copied, or are being copied, and not received yet.
    pub(crate) ready: u32,
}

impl<F: Iterator<Item: Copy>> Copies<F> {
    /// The copies of a feed, if it names any tiles.
    #[inline(always)]
    pub(crate) fn new<P: StageLayout, B: Block>(mut feed: F) -> Option<Self>
    where
        F::Item: StageLoad<P>,
    {
        let next = feed.next()?;
        let edges = !next.are_whole::<B>();
        Some(Self { feed, next, live: true, edges, ready: 0 })
    }

    /// Begins to copy the next message of the feed to `stage`, if it reaches over edges of tensors. The copies of all others are left
    /// to the result, to be begun behind products: their addresses are computed among these.
    /// At the feed's end the group of copies is empty, so that one is as old as ever when it is waited for.
    /// [`advance`](Self::advance) follows.
    ///
    /// # Safety
    /// There is a stage, which is free until the group of copies has been waited for.
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
        WholeTiles { start: self.next.start::<B>(stage), live, message: PhantomData }
    }

    /// Goes on to the message after the one that is being copied.
    #[inline(always)]
    pub(crate) fn advance<P: StageLayout, B: Block>(&mut self)
    where
        F::Item: StageLoad<P>,
    {
        if self.live {
            self.ready += 1;
            match self.feed.next() {
                Some(next) => self.next = next,
                None => self.live = false,
            }
            // In front of the barrier that the copies wait for, behind which the products wait for this.
            self.edges = self.live && !self.next.are_whole::<B>();
        }
    }
}

/// Copies of a message's tiles, all of them whole, which end a group of copies.
#[must_use = "a group of copies is ended by `begin`"]
pub(crate) struct WholeTiles<P: StageLayout, I: StageLoad<P>> {
    start: I::Start,
    /// Whether there is such a message.
    live: bool,
    message: PhantomData<P>,
}

impl<P: StageLayout, I: StageLoad<P>> WholeTiles<P, I> {
    /// Begins them, and ends their group.
    #[inline(always)]
    pub(crate) fn begin<B: Block>(self) {
        // A branch: among products the copies would pull these apart.
        if self.live {
            // SAFETY: the tiles are whole, and the stage is free, as who made this vouched for.
            unsafe { I::copy_from::<B>(self.start) }
        }
        barriers::commit_copies();
    }
}
