//! The producer warp: it copies by TMA into each stage as soon as the consumers have released it.

use crate::arch::barriers;
use crate::arch::messages::Failure;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::StageLoad;
use crate::pipeline::ring::{Position, Ring};
use crate::protocol::{GUARDS_HELD, RELEASE_ORDER};

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// Initialises the barriers and the word, for `consumers` blocks of `warps` warps.
    ///
    /// # Safety
    /// One thread calls it, before any other thread uses the ring.
    #[inline(always)]
    pub(crate) unsafe fn initialise(&self, consumers: u32, warps: u32) {
        let mut slot = 0;
        while slot < Self::HERE as u32 {
            // SAFETY: the memory belongs to the ring. `full` counts one arrival, the producer's announcement of its bytes;
            // `empty` counts one arrival of each warp of a block.
            unsafe {
                barriers::initialise(self.full(slot), 1);
                let mut consumer = 0;
                while consumer < consumers {
                    barriers::initialise(self.empty(consumer, slot), warps);
                    consumer += 1;
                }
            }
            slot += 1;
        }
        // SAFETY: as above. `turn` counts one arrival of each warp of the block before.
        unsafe {
            barriers::initialise(self.ended(), 1);
            let mut consumer = 0;
            while consumer < consumers {
                barriers::initialise(self.closed(consumer), warps);
                if consumers > 1 {
                    barriers::initialise(self.turn(consumer), warps);
                }
                consumer += 1;
            }
            barriers::store_volatile(self.failed(), 0);
        }
    }

    /// Arrives for this warp at the barrier that block `consumer`, its own, does not wait any more.
    ///
    /// # Safety
    /// One lane of each consumer warp calls it, once, on initialised barriers.
    #[inline(always)]
    pub(crate) unsafe fn close(&self, consumer: u32) {
        // SAFETY: the barrier counts one arrival for each warp.
        unsafe { barriers::arrive(self.closed(consumer)) }
    }

    /// Whether none of the `consumers` blocks waits for a stage any more.
    ///
    /// # Safety
    /// The barriers are initialised.
    #[inline(always)]
    unsafe fn all_closed(&self, consumers: u32) -> bool {
        let mut consumer = 0;
        // SAFETY: the same contract.
        while consumer < consumers && unsafe { barriers::test_wait(self.closed(consumer), 0) } {
            consumer += 1;
        }
        consumer == consumers
    }

    /// Waits until stage `next` is free: until each of the `consumers` blocks has released it or has ended. Returns whether there is
    /// anybody left to fill it for.
    ///
    /// # Safety
    /// The barriers are initialised.
    #[inline(always)]
    unsafe fn wait_until_free(&self, next: Position, consumers: u32) -> bool {
        let mut consumer = 0;
        // SAFETY: the same contract.
        unsafe {
            while consumer < consumers {
                while !barriers::try_wait(self.empty(consumer, next.slot), next.round ^ 1) {
                    // A block that has ended reads no stage any more, and releases none.
                    if barriers::test_wait(self.closed(consumer), 0) {
                        if self.all_closed(consumers) {
                            return false;
                        }
                        break;
                    }
                    // The report is made outside the iterator, where the caller's line is known.
                    if self.failure() != 0 {
                        return false;
                    }
                }
                consumer += 1;
            }
        }
        true
    }

    /// The role of a producer warp: copies each load as soon as a stage is free.
    ///
    /// # Safety
    /// One thread of the CTA calls it, on barriers initialised for `consumers` blocks.
    #[inline(always)]
    #[track_caller]
    pub(crate) unsafe fn produce<F: Iterator<Item: StageLoad<P>>>(&self, mut loads: F, consumers: u32) {
        let stages = self.stages;
        let mut next = Position::FIRST;
        let mut filled = 0_u32;
        // Internal iteration: the iterator of a `flat_map` becomes a loop within a loop.
        let _ = loads.try_for_each(|tiles| {
            // SAFETY: the barriers are initialised. The previous round of a block's `empty` is complete when all its warps have released
            // the stage or, in the first round, from the beginning. A block arrives at `closed` after its last read. The stage then
            // belongs to this thread until the bytes have arrived.
            unsafe {
                if !self.wait_until_free(next, consumers) {
                    return Err(());
                }
                barriers::arrive_expecting(self.full(next.slot), tiles.bytes_by_tma());
                tiles.copy_by_tma(self.stage(next.slot), self.full(next.slot));
            }
            next.advance(stages as usize);
            filled = if filled < stages { filled + 1 } else { filled };
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
            while !self.all_closed(consumers) {
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
