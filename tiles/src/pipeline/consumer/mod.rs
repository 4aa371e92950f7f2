//! The consumer of a pipeline: it waits for stages, and releases them after they have been read.
//!
//! `k_loop` lends stages step by step, and releases each. `in_flight` is a multiplication whose stage stays held. `progress` counts what is
//! under way. `turns` is the order in which blocks that share a producer start multiplications. Each warp waits for `full`, reads, and
//! arrives at `empty`.

pub(crate) mod in_flight;
pub(crate) mod mainloop;
pub(crate) mod progress;
mod turns;

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::messages::Failure;
use crate::arch::threads::Address;
use crate::arch::{cluster, execution, order, threads, warpgroup};
use crate::layout::Block;
use crate::memory::reads::{Readers, Reads};
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::StageLoad;
use crate::pipeline::producer::cp_async::Copies;
use crate::pipeline::ring::{Position, Ring};
use crate::protocol::{PRODUCER_ENDED, RELEASE_ORDER, STAGES_HELD};
use crate::registers::PowerOfTwo;
use core::marker::PhantomData;

/// The consumers' end of a pipeline's ring.
///
/// [`k_loop`](Self::k_loop) lends each stage to a closure and releases it. [`wait`](Self::wait) returns a guard, which holds a
/// stage until [`release`](Self::release).
///
/// `'r` belongs to one pipeline. A guard of one ring cannot be released to another ring.
pub struct Consumer<'r, P, F: Iterator, B, const STAGES: usize> {
    pub(crate) ring: Ring<P, STAGES>,
    /// The next stage.
    next: Position,
    /// Without a producer warp: the loads that this thread copies for itself, if there are any.
    copies: Option<Copies<F>>,
    /// The number of stages that were waited for, of those that guards hold or held.
    waited: u32,
    /// The number of stages that guards hold.
    held: u32,
    /// The number of this block among those that share its producer.
    number: u32,
    /// The parity of the phase at whose end the next turn begins.
    turn: u32,
    /// Whether this block takes its turns without waiting, from now on.
    out_of_turn: bool,
    /// The multiplications of the pipeline that are under way.
    pub(crate) progress: &'r Progress,
    brand: PhantomData<(fn(&'r ()) -> &'r (), B, *const ())>,
}

/// A stage that the consumer holds: its tiles stay as they are until [`Consumer::release`].
#[must_use = "a stage that is not released is not filled again: `consumer.release(guard)`"]
pub struct StageGuard<'r, P> {
    /// How many guards there were before.
    number: u32,
    slot: u32,
    address: Address,
    /// Not consulted: the release waits for all multiplications.
    reads: Reads,
    layout: PhantomData<(fn(&'r ()) -> &'r (), P, *const ())>,
}

impl<P: StageLayout> StageGuard<'_, P> {
    /// The tiles of the stage.
    #[inline_on_device]
    pub fn tiles(&self) -> P::Tiles<'_> {
        // SAFETY: the tiles stay until the release, which takes `self`.
        unsafe { P::tiles(self.address, &self.reads) }
    }

    /// The tiles of the stage for a step, whose readers `reads` records.
    ///
    /// # Safety
    /// The stage is not released for `'k`.
    #[inline_on_device]
    pub(crate) unsafe fn tiles_for<'k>(&self, reads: &'k Reads) -> P::Tiles<'k> {
        // SAFETY: the same contract.
        unsafe { P::tiles(self.address, reads) }
    }
}

impl<'r, P, F, B, const STAGES: usize> Consumer<'r, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    const STAGES: usize = Ring::<P, STAGES>::HERE;

    /// The consumer of a pipeline on this ring, of block `number` of those that share the producer. With `loads`, it copies for itself.
    ///
    /// # Panics
    /// If the ring does not belong to the block that this thread runs.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn new(ring: Ring<P, STAGES>, loads: Option<F>, number: u32, progress: &'r Progress) -> Self {
        ring.assert_current();
        let mut consumer = Self {
            ring,
            next: Position::FIRST,
            copies: loads.and_then(|loads| {
                let block = if B::CLUSTER_SIZE > 1 { number } else { 0 };
                Copies::new::<P>(loads, [block / B::CLUSTER[1], block % B::CLUSTER[1]])
            }),
            waited: 0,
            held: 0,
            number,
            turn: 0,
            out_of_turn: false,
            progress,
            brand: PhantomData,
        };
        if const { PRODUCER_WARP && B::CONSUMERS > 1 } {
            // The phase before the first one counts as complete (PTX ISA, "mbarrier.test_wait"): the first turn is the first block's.
            consumer.turn = u32::from(consumer.number == 0);
        }
        if !PRODUCER_WARP {
            for _ in 1..Self::STAGES {
                consumer.begin_copies();
            }
        }
        consumer
    }

    /// Waits for the next stage, and holds it until [`release`](Self::release).
    ///
    /// Stages are released in the order of their waits.
    ///
    /// # Panics
    ///
    /// If the producer has ended, or guards hold all stages (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn wait(&mut self) -> StageGuard<'r, P> {
        order::reveals_stage();
        let slot = self.next.slot;
        let address = self.wait_for_stage();
        let number = self.waited;
        self.waited = number.wrapping_add(1);
        self.held += 1;
        StageGuard { number, slot, address, reads: Reads::of_held(), layout: PhantomData }
    }

    /// Releases a stage to the producer.
    ///
    /// It first waits for all multiplications under way, since these may be reading the stage.
    /// [`InFlight::finish`](super::InFlight::finish) waits for fewer.
    ///
    /// # Panics
    ///
    /// If an older stage is still held (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn release(&mut self, guard: StageGuard<'r, P>) {
        if P::BY_WARPGROUPS {
            // SAFETY: all threads of the block run this alike.
            unsafe {
                if self.progress.is_lending() {
                    warpgroup::commit();
                }
                warpgroup::wait::<0>();
            }
        }
        let is_oldest = self.is_oldest(&guard);
        self.give_back(&guard, is_oldest);
    }

    /// Waits for the next stage, and returns the address of its tiles.
    #[inline_on_device]
    #[track_caller]
    fn wait_for_stage(&mut self) -> Address {
        let slot = self.next.slot;
        if PRODUCER_WARP {
            let full = self.ring.full(slot);
            // SAFETY: the pipeline initialised the barrier.
            while !unsafe { barriers::try_wait(full, self.next.round) } {
                // When the producer has ended, all its stages have arrived, and this stage is none of them. The producer warp
                // reports the error: the report's code would cost registers here.
                // SAFETY: the pipeline initialised the barriers. The word belongs to the ring.
                unsafe {
                    if self.held >= self.ring.stages {
                        barriers::store_volatile(self.ring.failed(), STAGES_HELD as u32);
                    } else if barriers::test_wait(self.ring.ended(), 0)
                        && !barriers::try_wait(full, self.next.round)
                    {
                        barriers::store_volatile(self.ring.failed(), PRODUCER_ENDED as u32);
                    }
                }
            }
        } else {
            self.wait_for_copies();
        }
        self.next.advance(self.ring.stages as usize);
        if const { PRODUCER_WARP && P::BY_WARPGROUPS && <F::Item as StageLoad<P>>::BY_THREADS } {
            // Warpgroups read through another proxy than threads write (PTX ISA, "Async Proxy").
            barriers::fence_proxy_async();
        }
        self.ring.stage(slot)
    }

    /// Waits for the oldest group of copies, and starts another group if a stage is free.
    #[inline_on_device]
    #[track_caller]
    fn wait_for_copies(&mut self) {
        let has_stage = (self.held as usize) < Self::STAGES;
        if self.ready() == 0 && has_stage {
            // All stages were held, and one has been released since.
            // SAFETY: all threads of the block run this alike. Behind the barrier, all threads are done with released stages.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            self.begin_copies();
        }
        let ready = self.ready();
        if ready == 0 {
            self.fail("wait", if has_stage { PRODUCER_ENDED } else { STAGES_HELD })
        }
        wait_until_under_way(ready as usize - 1);
        // SAFETY: all threads of the block run this alike. Behind the barrier, all copies have arrived, and all threads are
        // done with released stages.
        unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
        if ready + self.held < const { Self::STAGES as u32 } {
            self.begin_copies();
        }
        if let Some(copies) = &mut self.copies {
            copies.ready -= 1;
        }
    }

    /// The number of stages that are filled or being filled, and not yet waited for.
    #[inline_on_device]
    fn ready(&self) -> u32 {
        self.copies.as_ref().map_or(0, |copies| copies.ready)
    }

    /// The slot of the stage `ahead` positions behind the next one; `ahead` is at most the number of stages.
    #[inline_on_device]
    fn slot(&self, ahead: u32) -> u32 {
        let slot = self.next.slot + ahead;
        if slot < self.ring.stages { slot } else { slot - self.ring.stages }
    }

    /// Starts copies until all stages but one are being filled. Held stages are the only reason why they may not be already.
    #[inline_on_device]
    fn fill_up(&mut self) {
        let mut missing = const { Self::STAGES as u32 - 1 } - self.ready();
        if missing != 0 {
            // SAFETY: all threads of the block run this alike. Behind the barrier, all threads are done with released stages.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            // After the producer's end the groups are empty.
            while missing != 0 {
                self.begin_copies();
                missing -= 1;
            }
        }
    }

    /// Starts to copy the next load into the next stage, which is free: not all stages are filled or held.
    #[inline_on_device]
    fn begin_copies(&mut self) {
        let stage = self.ring.stage(self.slot(self.ready()));
        if let Some(copies) = &mut self.copies {
            let start = copies.start::<P, B>(stage);
            // SAFETY: the stage is free, since stages are filled and released in the same order.
            unsafe { copies.copy::<P, B>(start) };
        }
    }

    /// [`KLoop::for_each`](k_loop::KLoop::for_each) without a producer warp.
    ///
    /// # Panics
    /// If the producer has fewer stages, or stages are held (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    fn each_by_threads(&mut self, count: u32, mut step: impl for<'k> FnMut(P::Tiles<'k>)) {
        self.fill_up();
        if count == 0 {
            return;
        }
        // Without TMA no instruction reads a stage after its step.
        let reads = Reads::of_step(true);
        let mut count = count;
        let Some(copies) = self.copies.as_mut().filter(|copies| copies.ready != 0) else {
            self.fail("for_each", PRODUCER_ENDED)
        };
        loop {
            wait_until_under_way(const { Self::STAGES - 2 });
            let slot = self.next.slot;
            // All stages but this one and the one before are filled, unless the producer has ended.
            let before = if slot == 0 { const { Self::STAGES as u32 - 1 } } else { slot - 1 };
            let (address, free) = (self.ring.stage(slot), self.ring.stage(before));
            self.next.advance(self.ring.stages as usize);
            // SAFETY: all threads of the block run this alike. Behind the barrier, all copies have arrived, and all threads are
            // done with the stage before.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            copies.ready -= 1;
            let start = copies.start::<P, B>(free);
            // SAFETY: the tiles stay: the slot is filled again behind the barrier of the next step.
            step(unsafe { P::tiles(address, &reads) });
            // SAFETY: the stage before was released, by the barrier.
            unsafe { copies.copy::<P, B>(start) };
            count -= 1;
            if count == 0 {
                return;
            }
            if copies.ready == 0 {
                self.fail("for_each", PRODUCER_ENDED)
            }
        }
    }

    /// One step, with a producer warp: waits for the next stage, calls `step` with its tiles, then releases `previous`, the
    /// stage of the step before, whose multiplications are done. Returns this step's own stage if multiplications are still
    /// reading it.
    #[inline_on_device]
    #[track_caller]
    fn step(&mut self, previous: Option<u32>, mut step: impl for<'k> FnMut(P::Tiles<'k>)) -> Option<u32> {
        let slot = self.next.slot;
        let address = self.wait_for_stage();
        let reads = Reads::of_step(true);
        // SAFETY: the tiles stay until the stage's release. All its readers finish before the release.
        let stages = unsafe { P::tiles(address, &reads) };
        self.progress.lend(|| step(stages));
        let own = match reads.readers() {
            // SAFETY: all threads of the block run this alike.
            Readers::Products => unsafe {
                warpgroup::commit();
                // The multiplications of the step before have read their stage.
                warpgroup::wait::<1>();
                Some(slot)
            },
            // The multiplications of the step before are done.
            Readers::OwnGroups => Some(slot),
            Readers::Nobody => {
                if P::BY_WARPGROUPS && previous.is_some() {
                    // SAFETY: as above.
                    unsafe { warpgroup::wait::<0>() };
                }
                None
            }
        };
        if let Some(previous) = previous {
            self.arrive_empty(previous);
        }
        if own.is_none() {
            self.arrive_empty(slot);
        }
        own
    }

    /// Releases the stage of the last step.
    #[inline_on_device]
    fn after_steps(&mut self, last: Option<u32>) {
        if let Some(last) = last {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::wait::<0>() };
            self.arrive_empty(last);
        }
    }

    /// Whether a guard's stage is the oldest that guards hold, by their places.
    #[inline_on_device]
    fn is_oldest(&self, guard: &StageGuard<'r, P>) -> bool {
        // Held stages lie directly before the next one.
        guard.slot == self.slot(self.ring.stages - self.held)
    }

    /// [`is_oldest`](Self::is_oldest) by the numbers of guards. Where steps are alike the compiler knows the result, and nothing remains in
    /// the code. Where it does not, numbers take more registers than places.
    #[inline_on_device]
    pub(crate) fn counts_as_oldest(&self, guard: &StageGuard<'r, P>) -> bool {
        guard.number == self.waited.wrapping_sub(self.held)
    }

    /// Releases the stage of a guard to the producer. It is the oldest.
    #[inline_on_device]
    #[track_caller]
    pub(crate) fn give_back(&mut self, guard: &StageGuard<'r, P>, is_oldest: bool) {
        if PRODUCER_WARP {
            if !is_oldest {
                // The producer warp reports the error, at the latest when the consumers have ended. A loop that waits for the report
                // would make the code behind it look rarely run, and LLVM does not inline calls in such code.
                // SAFETY: the word belongs to the ring.
                unsafe { barriers::store_volatile(self.ring.failed(), RELEASE_ORDER as u32) };
            }
            self.arrive_empty(guard.slot);
        } else if !is_oldest {
            self.fail("release", RELEASE_ORDER)
        }
        self.held -= 1;
    }

    /// Ends the kernel with a report. A producer warp makes the report itself: its code would cost registers here.
    #[inline_on_device]
    #[track_caller]
    fn fail(&self, operation: &'static str, text: usize) -> ! {
        if !PRODUCER_WARP {
            Failure::new(operation, text).end()
        }
        loop {
            // SAFETY: the word belongs to the ring.
            unsafe { barriers::store_volatile(self.ring.failed(), text as u32) };
            barriers::rest();
        }
    }

    /// Arrives for this warp at the barrier `empty` of stage `slot`.
    #[inline_on_device]
    fn arrive_empty(&self, slot: u32) {
        // SAFETY: all lanes are here, and none reads the stage any more. Ordinary loads have finished in program order, and the
        // multiplications were waited for. The barrier counts one arrival for each warp.
        unsafe {
            threads::warp_barrier();
            let (lane, empty) =
                (threads::lane(execution::thread() as u32), self.ring.empty(self.number, slot));
            if const { B::CLUSTER_SIZE > 1 } {
                // Each lane arrives for the producer of another block of the cluster.
                if lane < B::CLUSTER_SIZE {
                    cluster::arrive(cluster::address_in(lane, empty));
                }
            } else if lane == 0 {
                barriers::arrive(empty);
            }
        }
    }
}

/// Waits until at most this many groups of copies are under way.
#[inline_on_device]
pub(crate) fn wait_until_under_way(groups: usize) {
    match groups {
        0 => barriers::wait_for_copies::<0>(),
        1 => barriers::wait_for_copies::<1>(),
        2 => barriers::wait_for_copies::<2>(),
        3 => barriers::wait_for_copies::<3>(),
        4 => barriers::wait_for_copies::<4>(),
        5 => barriers::wait_for_copies::<5>(),
        _ => barriers::wait_for_copies::<6>(),
    }
}
