//! The producer warp: it copies by TMA into each stage as soon as the consumers have released it.

use crate::arch::barriers;
use crate::arch::messages::Failure;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::StageLoad;
use crate::pipeline::ring::{Position, Ring};
use crate::protocol::{GUARDS_HELD, RELEASE_ORDER};

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// Initialises the barriers and the word, for `warps` consumer warps.
    ///
    /// # Safety
    /// One thread calls it, before any other thread uses the ring.
    #[inline(always)]
    pub(crate) unsafe fn initialise(&self, warps: u32) {
        let mut slot = 0;
        while slot < Self::HERE as u32 {
            // SAFETY: the memory belongs to the ring. `full` counts one arrival, the producer's announcement of its bytes;
            // `empty` counts one arrival of each consumer warp.
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

    /// Arrives for this warp at the barrier that no consumer waits any more.
    ///
    /// # Safety
    /// One lane of each consumer warp calls it, once, on initialised barriers.
    #[inline(always)]
    pub(crate) unsafe fn close(&self) {
        // SAFETY: the barrier counts one arrival for each warp.
        unsafe { barriers::arrive(self.closed()) }
    }

    /// The role of a producer warp: copies each load as soon as a stage is free.
    ///
    /// # Safety
    /// One thread of the block calls it, on initialised barriers.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn produce<F: Iterator<Item: StageLoad<P>>>(&self, mut loads: F) {
        let stages = Self::HERE;
        let mut next = Position::FIRST;
        let mut filled = 0_u32;
        // Internal iteration: the iterator of a `flat_map` becomes a loop within a loop.
        let _ = loads.try_for_each(|tiles| {
            // SAFETY: the barriers are initialised. The previous round of `empty` is complete when all warps have released the
            // stage or, in the first round, from the beginning. The stage then belongs to this thread until the bytes have
            // arrived.
            unsafe {
                while !barriers::try_wait(self.empty(next.slot), next.round ^ 1) {
                    // The report is made outside the iterator, where the caller's line is known.
                    if barriers::test_wait(self.closed(), 0) || self.failure() != 0 {
                        return Err(());
                    }
                }
                barriers::arrive_expecting(self.full(next.slot), tiles.bytes_by_tma());
                tiles.copy_by_tma(self.stage(next.slot), self.full(next.slot));
            }
            next.advance(stages);
            filled = if filled < stages as u32 { filled + 1 } else { filled };
            Ok(())
        });
        // SAFETY: the ring is initialised.
        unsafe { self.report_failure() };
        // After the end of its threads, the block's memory belongs to another block. No copy may be under way then.
        let mut slot = 0;
        while slot < filled {
            // A stage behind the next one was filled in the round before.
            let round = if slot < next.slot { next.round } else { next.round ^ 1 };
            // SAFETY: the producer has filled this stage in this round.
            unsafe { while !barriers::try_wait(self.full(slot), round) {} }
            slot += 1;
        }
        // SAFETY: the barriers are initialised. The word belongs to the ring.
        unsafe {
            barriers::arrive(self.ended());
            while !barriers::test_wait(self.closed(), 0) {
                self.report_failure();
                barriers::rest();
            }
            self.report_failure();
        }
    }

    /// The number of the text that says how a consumer has failed; zero if none has.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline(always)]
    unsafe fn failure(&self) -> usize {
        // SAFETY: the word belongs to the ring.
        unsafe { barriers::load_volatile(self.failed()) as usize }
    }

    /// Ends the kernel if a consumer has failed.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline(always)]
    #[track_caller]
    unsafe fn report_failure(&self) {
        // SAFETY: the same contract.
        let text = unsafe { self.failure() };
        if text != 0 {
            let operation = match text {
                GUARDS_HELD => "k_loop",
                RELEASE_ORDER => "release",
                _ => "wait",
            };
            Failure::new(operation, text).end()
        }
    }
}
