//! The producer warp: it copies by TMA, each stage as soon as consumers have released it.

use crate::arch::barriers;
use crate::arch::messages::Failure;
use crate::debug::protocol::HELD_MESSAGES;
use crate::memory::shared_tile::StageLayout;
use crate::pipeline::producer::StageLoad;
use crate::pipeline::ring::{Position, Ring};

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// Makes the barriers and the word, for so many warps that receive.
    ///
    /// # Safety
    /// One thread calls it, before any other uses the ring.
    #[inline(always)]
    pub(crate) unsafe fn initialise(&self, warps: u32) {
        let mut slot = 0;
        while slot < Self::HERE as u32 {
            // SAFETY: the memory is the ring's. A stage is full when the sender has announced its bytes and they are there; empty
            // when each computing warp is done with it.
            unsafe {
                barriers::initialise(self.full(slot), 1);
                barriers::initialise(self.empty(slot), warps);
            }
            slot += 1;
        }
        // SAFETY: as above.
        unsafe {
            barriers::initialise(self.ended(), 1);
            barriers::initialise(self.closed(), warps);
            barriers::store_volatile(self.failed(), 0);
        }
    }

    /// Says that this warp receives no more.
    ///
    /// # Safety
    /// One lane of each warp that receives calls it, once, on initialised barriers.
    #[inline(always)]
    pub(crate) unsafe fn close(&self) {
        // SAFETY: the barrier counts one arrival a warp.
        unsafe { barriers::arrive(self.closed()) }
    }

    /// The copying role: copies what the feed names, each message as soon as its stage is free.
    ///
    /// # Safety
    /// One thread of the block calls it, on initialised barriers.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn send<F: Iterator<Item: StageLoad<P>>>(&self, mut feed: F) {
        let stages = Self::HERE;
        let mut next = Position::FIRST;
        let mut sent = 0_u32;
        // Iteration within the iterator: one that is made of several, by `flat_map`, is then a loop in a loop.
        let _ = feed.try_for_each(|tiles| {
            // SAFETY: the barriers are initialised. The empty one's round before is complete when all warps have released the
            // stage, or, in the first round, from the beginning; then the stage is this thread's until the bytes are there.
            unsafe {
                while !barriers::try_wait(self.empty(next.slot), next.round ^ 1) {
                    // Reported outside of the iterator, where the caller's line is known.
                    if barriers::test_wait(self.closed(), 0) || self.failure() != 0 {
                        return Err(());
                    }
                }
                barriers::arrive_expecting(self.full(next.slot), P::BYTES as u32);
                tiles.copy_by_tma(self.stage(next.slot), self.full(next.slot));
            }
            next.advance(stages);
            sent = if sent < stages as u32 { sent + 1 } else { sent };
            Ok(())
        });
        // SAFETY: the ring is initialised.
        unsafe { self.report_failure() };
        // The block's memory is given to another block when all threads have ended: no copy may be under way then.
        let mut slot = 0;
        while slot < sent {
            // A stage behind the next one was filled in the round before.
            let round = if slot < next.slot { next.round } else { next.round ^ 1 };
            // SAFETY: a message was sent to this stage in this round.
            unsafe { while !barriers::try_wait(self.full(slot), round) {} }
            slot += 1;
        }
        // SAFETY: the barriers are initialised, and the word is the ring's.
        unsafe {
            barriers::arrive(self.ended());
            while !barriers::test_wait(self.closed(), 0) {
                self.report_failure();
                barriers::rest();
            }
        }
    }

    /// The number of the text that says how the consumer has failed; zero if it has not.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline(always)]
    unsafe fn failure(&self) -> usize {
        // SAFETY: the word is the ring's own.
        unsafe { barriers::load_volatile(self.failed()) as usize }
    }

    /// Ends the kernel if the consumer has failed.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline(always)]
    #[track_caller]
    unsafe fn report_failure(&self) {
        // SAFETY: the same contract.
        let text = unsafe { self.failure() };
        if text != 0 {
            Failure::new(if text == HELD_MESSAGES { "steps" } else { "receive" }, text).end()
        }
    }
}
