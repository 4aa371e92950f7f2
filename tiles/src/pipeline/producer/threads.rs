//! Producer threads: together they copy tiles of spans into each stage as soon as the consumers have released it.
//!
//! Each thread copies its part by `cp.async`, and arrives at `full` when its copies have arrived (PTX ISA, "cp.async.mbarrier.arrive").
//! Elements that a thread stores itself are there when its warp arrives. The first warp then announces the bytes that TMA copies beside
//! them, and starts TMA.

use crate::arch::{barriers, threads};
use crate::layout::Block;
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::producer::copiers::{Copiers, LANES};
use crate::pipeline::producer::sharing::PlaceInCluster;
use crate::pipeline::producer::stage_load::StageLoad;
use crate::pipeline::producer::tma::{Arrivals, Filling};
use crate::pipeline::ring::{Position, Ring};

impl Arrivals {
    /// Those of producer threads that copy together: at `full` of each thread, after its copies, and of each warp, after its stores.
    pub(crate) const fn of_threads<X: Copiers>() -> Self {
        let warps = X::THREADS / LANES;
        Self { full: (X::THREADS + warps) as u32, ended: warps as u32 }
    }
}

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// The role of producer threads: they copy each load as soon as a stage is free.
    ///
    /// # Safety
    /// All of the threads call it, whole warps of a block that shares no loads with others, on barriers initialised for the blocks of a
    /// group of `B` and for [their arrivals](Arrivals::of_threads).
    #[inline_on_device]
    #[track_caller]
    pub(crate) unsafe fn produce_by_threads<B: Block, X: Copiers, F: Iterator<Item: StageLoad<P>>>(
        &self,
        mut loads: F,
    ) {
        let mut filling = Filling::FIRST;
        let lane = X::thread() % LANES;
        loads.all(|tiles| {
            let (stage, full) = (self.stage(filling.next.slot), self.full(filling.next.slot));
            // SAFETY: the barriers are initialised. A stage that is free belongs to the producer threads until all of them have arrived at
            // `full`. All of them have the same loads, and find the same stages free.
            unsafe {
                if !self.wait_until_free_alike(filling.next) {
                    return false;
                }
                tiles.copy_by_producers::<X>(stage);
                barriers::arrive_after_copies(full);
                // Behind the stores of all lanes.
                threads::warp_barrier();
                if X::thread() == 0 {
                    barriers::arrive_expecting(full, tiles.bytes_by_tma::<B>());
                    tiles.copy_by_tma::<B>(stage, full, PlaceInCluster::ALONE);
                } else if lane == 0 {
                    barriers::arrive(full);
                }
            }
            filling.advance(self.stages);
            true
        });
        // SAFETY: the ring is initialised, and these threads have filled its stages.
        unsafe {
            self.report_failure();
            self.wait_until_arrived(filling);
            threads::warp_barrier();
            if lane == 0 {
                barriers::arrive(self.ended());
            }
            while !barriers::try_wait(self.closed(0), 0) {
                self.report_failure();
            }
            self.report_failure();
        }
    }

    /// Waits until stage `next` is free, and returns whether it is: no if the consumers have ended, or have failed. A failure ends the kernel;
    /// otherwise all threads get the same answer.
    ///
    /// # Safety
    /// The barriers are initialised.
    #[inline_on_device]
    unsafe fn wait_until_free_alike(&self, next: Position) -> bool {
        let (empty, before) = (self.empty(0, next.slot), next.round ^ 1);
        // SAFETY: the same contract.
        unsafe {
            while !barriers::try_wait(empty, before) {
                if barriers::test_wait(self.closed(0), 0) {
                    // Consumers that have ended release nothing any more. Between the two tests above they may have.
                    return barriers::test_wait(empty, before);
                }
                if self.failure() != 0 {
                    return false;
                }
            }
        }
        true
    }
}
