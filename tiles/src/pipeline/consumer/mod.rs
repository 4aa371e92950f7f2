//! The receiving end of a pipeline: stages lent step by step, or held.

pub(crate) mod in_flight;
pub(crate) mod k_loop;
pub(crate) mod progress;

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::messages::Failure;
use crate::arch::threads::Address;
use crate::arch::{execution, order, threads, warpgroup};
use crate::debug::protocol::{ENDED_FEED, HELD_MESSAGES, HELD_STAGES, ORDER_OF_STAGES};
use crate::layout::Block;
use crate::memory::reads::{Readers, Reads};
use crate::memory::shared_tile::StageLayout;
use crate::pipeline::consumer::k_loop::KLoop;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::StageLoad;
use crate::pipeline::producer::cp_async::Copies;
use crate::pipeline::ring::{Position, Ring};
use crate::registers::PowerOfTwo;
use core::marker::PhantomData;

/// Receives the messages of a pipeline's feed, in order.
///
/// [`steps`](Self::k_loop) lends each message to a closure and gives its stage back by itself: the way for sums of products.
/// [`receive`](Self::wait) hands a message out until it is released.
///
/// `'r` is the pipeline's own: what was received from one pipeline cannot be mistaken for another's.
pub struct Consumer<'r, P, F: Iterator, B, const STAGES: usize> {
    pub(crate) ring: Ring<P, STAGES>,
    /// The next message.
    next: Position,
    /// Where no warp copies: the feed, if it names any tiles.
    copies: Option<Copies<F>>,
    /// Stages that were handed out and not released.
    held: u32,
    /// What products of the pipeline are under way.
    pub(crate) progress: &'r Progress,
    brand: PhantomData<(fn(&'r ()) -> &'r (), B, *const ())>,
}

/// A message that was handed out: its stages stay as they are until it is released.
#[must_use = "a stage that is not released is not filled again: `consumer.release(message)`"]
pub struct StageGuard<'r, P> {
    slot: u32,
    address: Address,
    /// Its release waits for all products, and asks nobody.
    reads: Reads,
    message: PhantomData<(fn(&'r ()) -> &'r (), P, *const ())>,
}

impl<P: StageLayout> StageGuard<'_, P> {
    #[inline(always)]
    pub(crate) fn slot(&self) -> u32 {
        self.slot
    }

    /// The stages of the message.
    #[inline(always)]
    pub fn tiles(&self) -> P::Tiles<'_> {
        // SAFETY: the message lies there until it is released, which takes `self`.
        unsafe { P::tiles(self.address, &self.reads) }
    }

    /// The stages as those of a step, of which `reads` knows.
    ///
    /// # Safety
    /// The message is not released for `'k`.
    #[inline(always)]
    pub(crate) unsafe fn tiles_for<'k>(&self, reads: &'k Reads) -> P::Tiles<'k> {
        // SAFETY: the caller vouches for the time.
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

    /// The consumer of a pipeline on this ring; with a feed, it copies for itself.
    ///
    /// # Panics
    /// If the ring is not of the block that this thread runs.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(ring: Ring<P, STAGES>, feed: Option<F>, progress: &'r Progress) -> Self {
        ring.assert_current();
        let mut consumer = Self {
            ring,
            next: Position::FIRST,
            copies: feed.and_then(Copies::new::<P, B>),
            held: 0,
            progress,
            brand: PhantomData,
        };
        if !PRODUCER_WARP {
            for _ in 1..Self::STAGES {
                consumer.begin_copies();
            }
        }
        consumer
    }

    /// Lends the next `count` messages one by one.
    ///
    /// # Panics
    /// If messages are held that were received before (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn k_loop(&mut self, count: u32) -> KLoop<'_, 'r, P, F, B, STAGES> {
        const {
            assert!(
                Self::STAGES >= 2,
                "steps need a ring of at least 2 stages: one is filled while the other is used; of one stage, `receive` the message"
            )
        };
        order::reveals_message();
        if self.held != 0 {
            self.fail("steps", HELD_MESSAGES)
        }
        KLoop { consumer: self, count }
    }

    /// The next message, to be held until [`release`](Self::release).
    ///
    /// Messages are released in the order in which they were received.
    ///
    /// # Panics
    /// If the feed has ended, or all stages are held (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn wait(&mut self) -> StageGuard<'r, P> {
        order::reveals_message();
        let slot = self.next.slot;
        let address = self.wait_for_stage();
        self.held += 1;
        StageGuard { slot, address, reads: Reads::of_held(), message: PhantomData }
    }

    /// Gives the stage of a message back. Waits for all products that are under way, which may be reading it;
    /// [`InFlight::finish`] waits for fewer.
    ///
    /// # Panics
    /// If an older message is still held (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn release(&mut self, message: StageGuard<'r, P>) {
        if P::BY_WARPGROUPS {
            // SAFETY: all threads of the block run this alike.
            unsafe {
                if self.progress.is_lending() {
                    warpgroup::commit();
                }
                warpgroup::wait::<0>();
            }
        }
        self.give_back(message.slot);
    }

    /// Waits for the next message; afterwards it lies at the result.
    #[inline(always)]
    #[track_caller]
    fn wait_for_stage(&mut self) -> Address {
        let slot = self.next.slot;
        if PRODUCER_WARP {
            let full = self.ring.full(slot);
            // SAFETY: the pipeline initialised the barrier.
            while !unsafe { barriers::try_wait(full, self.next.round) } {
                // When the feed has ended all its messages are there, and this one is none of them. The sender makes the report:
                // its code would cost registers here.
                // SAFETY: the pipeline initialised the barriers, and the word is the ring's own.
                unsafe {
                    if self.held as usize >= Self::STAGES {
                        barriers::store_volatile(self.ring.failed(), HELD_STAGES as u32);
                    } else if barriers::test_wait(self.ring.ended(), 0)
                        && !barriers::try_wait(full, self.next.round)
                    {
                        barriers::store_volatile(self.ring.failed(), ENDED_FEED as u32);
                    }
                }
            }
        } else {
            self.wait_for_copies();
        }
        self.next.advance(Self::STAGES);
        self.ring.stage(slot)
    }

    /// Waits for the oldest group of copies, and begins another where a stage is free.
    #[inline(always)]
    #[track_caller]
    fn wait_for_copies(&mut self) {
        let has_stage = (self.held as usize) < Self::STAGES;
        if self.ready() == 0 && has_stage {
            // All stages were held, and one was released since.
            // SAFETY: all threads of the block run this alike. Behind it all are done with stages released.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            self.begin_copies();
        }
        let ready = self.ready();
        if ready == 0 {
            self.fail("receive", if has_stage { ENDED_FEED } else { HELD_STAGES })
        }
        wait_until_under_way(ready as usize - 1);
        // SAFETY: all threads of the block run this alike. Behind it all have their copies, and are done with stages released.
        unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
        if ready + self.held < const { Self::STAGES as u32 } {
            self.begin_copies();
        }
        if let Some(copies) = &mut self.copies {
            copies.ready -= 1;
        }
    }

    /// Messages that were copied, or are being copied, and not received yet.
    #[inline(always)]
    fn ready(&self) -> u32 {
        self.copies.as_ref().map_or(0, |copies| copies.ready)
    }

    /// The stage of the message that is `ahead` places behind the next one, of at most as many as there are stages.
    #[inline(always)]
    fn slot(&self, ahead: u32) -> u32 {
        let slot = self.next.slot + ahead;
        if slot < Self::STAGES as u32 { slot } else { slot - Self::STAGES as u32 }
    }

    /// Begins copies until all stages but one are on their way, as they are but for messages that were held.
    #[inline(always)]
    fn fill_up(&mut self) {
        let mut missing = const { Self::STAGES as u32 - 1 } - self.ready();
        if missing != 0 {
            // SAFETY: all threads of the block run this alike. Behind it all are done with stages released.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            // At the feed's end the groups are empty.
            while missing != 0 {
                self.begin_copies();
                missing -= 1;
            }
        }
    }

    /// Begins to copy the next message of the feed into the next stage, which is free: fewer than all are filled or held.
    #[inline(always)]
    fn begin_copies(&mut self) {
        let stage = self.ring.stage(self.slot(self.ready()));
        if let Some(copies) = &mut self.copies {
            // SAFETY: the stage is free, as stages are filled and released in one order.
            unsafe { copies.begin::<P, B>(stage) }.begin::<B>();
            copies.advance::<P, B>();
        }
    }

    /// [`KLoop::for_each`] where no warp copies.
    ///
    /// # Panics
    /// If the feed has fewer messages, or messages are held (on the device: traps).
    #[inline(always)]
    #[track_caller]
    fn each_by_threads(&mut self, count: u32, mut step: impl for<'k> FnMut(P::Tiles<'k>)) {
        self.fill_up();
        if count == 0 {
            return;
        }
        // Here nobody reads on when a step has ended.
        let reads = Reads::of_step();
        let mut count = count;
        while count != 0 {
            count -= 1;
            if self.ready() == 0 {
                self.fail("each", ENDED_FEED)
            }
            wait_until_under_way(const { Self::STAGES - 2 });
            let (address, free) = (self.ring.stage(self.next.slot), self.ring.stage(self.slot(self.ready())));
            self.next.advance(Self::STAGES);
            // SAFETY: all threads of the block run this alike. Behind it all have their copies, and are done with the stage before.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            let Some(copies) = &mut self.copies else { return };
            copies.ready -= 1;
            // SAFETY: all stages but this one and the one before are filled, and that one was released.
            let copied = unsafe { copies.begin::<P, B>(free) };
            // SAFETY: the message lies there: its stage is filled again behind the barrier of the next message.
            step(unsafe { P::tiles(address, &reads) });
            copied.begin::<B>();
            copies.advance::<P, B>();
        }
    }

    /// Waits for the next message and calls `step` with its stages, where a warp copies. Then gives back the stage of the step before,
    /// `previous`, whose products are done. Its own stage is the result, if products are reading it.
    #[inline(always)]
    #[track_caller]
    fn step(&mut self, previous: Option<u32>, mut step: impl for<'k> FnMut(P::Tiles<'k>)) -> Option<u32> {
        let slot = self.next.slot;
        let address = self.wait_for_stage();
        let reads = Reads::of_step();
        // SAFETY: the message lies there until its stage is given back, which what reads it precedes.
        let stages = unsafe { P::tiles(address, &reads) };
        self.progress.lend(|| step(stages));
        let own = match reads.readers() {
            // SAFETY: all threads of the block run this alike.
            Readers::Products => unsafe {
                warpgroup::commit();
                // The products of the step before have read their stage.
                warpgroup::wait::<1>();
                Some(slot)
            },
            // The products of the step before are done.
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

    /// Gives the stage of the last step back.
    #[inline(always)]
    fn after_steps(&mut self, last: Option<u32>) {
        if let Some(last) = last {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::wait::<0>() };
            self.arrive_empty(last);
        }
    }

    /// Gives the stage `slot` back to the sender.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn give_back(&mut self, slot: u32) {
        if PRODUCER_WARP {
            self.arrive_empty(slot);
        } else if slot != self.slot(const { Self::STAGES as u32 } - self.held) {
            // Messages that are held lie in front of the next one.
            self.fail("release", ORDER_OF_STAGES)
        }
        self.held -= 1;
    }

    /// Ends the kernel with a report. Where a warp copies, that one makes it: here its code would cost registers.
    #[inline(always)]
    #[track_caller]
    fn fail(&self, operation: &'static str, text: usize) -> ! {
        if !PRODUCER_WARP {
            Failure::new(operation, text).end()
        }
        loop {
            // SAFETY: the word is the ring's own.
            unsafe { barriers::store_volatile(self.ring.failed(), text as u32) };
            barriers::rest();
        }
    }

    /// Says that this warp is done with the stage `slot`.
    #[inline(always)]
    fn arrive_empty(&self, slot: u32) {
        // SAFETY: all lanes are here, and none reads the stage any more: ordinary loads are done where they stand, products
        // were waited for. The barrier counts one arrival a warp.
        unsafe {
            threads::warp_barrier();
            if threads::lane(execution::thread() as u32) == 0 {
                barriers::arrive(self.ring.empty(slot));
            }
        }
    }
}

/// Waits until at most this many groups of copies are under way.
#[inline(always)]
fn wait_until_under_way(groups: usize) {
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
