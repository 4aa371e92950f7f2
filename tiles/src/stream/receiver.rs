//! The receiving end of a pipeline: stages lent step by step, or held.

use super::accumulator::Accumulator;
#[allow(unused_imports, reason = "for links in the documentation")]
use super::accumulator::InFlight;
use super::fills::Fills;
use super::progress::{Progress, Readers, Reads};
use super::ring::Ring;
use super::staged::Message;
use crate::arch::barriers::{self, COPY_WARP};
use crate::arch::messages::Failure;
use crate::arch::threads::Address;
use crate::arch::{execution, threads, warpgroup};
use crate::context::Cx;
use crate::debug::protocol::{ENDED_FEED, HELD_MESSAGES, HELD_STAGES, ORDER_OF_STAGES};
use crate::element::Element;
use crate::layout::{Accumulators, Block};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;

/// A place in the sequence of messages: which stage, and in which round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) slot: u32,
    /// The parity of the round.
    pub(super) round: u32,
}

impl Position {
    pub(super) const FIRST: Self = Self { slot: 0, round: 0 };

    /// The place of the next message in a ring of `stages`.
    #[inline(always)]
    pub(super) fn advance(&mut self, stages: usize) {
        self.slot += 1;
        if self.slot == stages as u32 {
            self.slot = 0;
            self.round ^= 1;
        }
    }
}

/// Receives the messages of a pipeline's feed, in order.
///
/// [`steps`](Self::steps) lends each message to a closure and gives its stage back by itself: the way for sums of products.
/// [`receive`](Self::receive) hands a message out until it is released.
///
/// `'r` is the pipeline's own: what was received from one pipeline cannot be mistaken for another's.
pub struct Receiver<'r, P, F, B, const STAGES: usize> {
    pub(super) ring: Ring<P, STAGES>,
    /// The next message.
    next: Position,
    /// Where no warp copies: the messages that are still to be copied, by all threads.
    feed: Option<F>,
    /// The stage that is filled next.
    fill: u32,
    /// Groups of copies that were begun for messages not received yet, empty ones at the feed's end included.
    ahead: u32,
    /// Messages among them.
    ready: u32,
    /// Stages that were handed out and not released.
    held: u32,
    /// The oldest of them.
    oldest: u32,
    /// What products of the pipeline are under way.
    pub(super) progress: &'r Progress,
    brand: PhantomData<(fn(&'r ()) -> &'r (), B, *const ())>,
}

/// A message that was handed out: its stages stay as they are until it is released.
#[must_use = "a stage that is not released is not filled again: `receiver.release(message)`"]
pub struct Held<'r, P> {
    slot: u32,
    address: Address,
    /// Its release waits for all products, and asks nobody.
    reads: Reads,
    message: PhantomData<(fn(&'r ()) -> &'r (), P, *const ())>,
}

impl<P: Message> Held<'_, P> {
    #[inline(always)]
    pub(super) fn slot(&self) -> u32 {
        self.slot
    }

    /// The stages of the message.
    #[inline(always)]
    pub fn stages(&self) -> P::Stages<'_> {
        // SAFETY: the message lies there until it is released, which takes `self`.
        unsafe { P::stages(self.address, &self.reads) }
    }

    /// The stages as those of a step, of which `reads` knows.
    ///
    /// # Safety
    /// The message is not released for `'k`.
    #[inline(always)]
    pub(super) unsafe fn stages_for<'k>(&self, reads: &'k Reads) -> P::Stages<'k> {
        // SAFETY: the caller vouches for the time.
        unsafe { P::stages(self.address, reads) }
    }
}

impl<'r, P, F, B, const STAGES: usize> Receiver<'r, P, F, B, STAGES>
where
    P: Message,
    F: Iterator<Item: Fills<P>>,
    B: Block,
{
    const STAGES: usize = Ring::<P, STAGES>::HERE;

    /// The receiver of a pipeline on this ring; with a feed, it copies for itself.
    #[inline(always)]
    pub(super) fn new(ring: Ring<P, STAGES>, feed: Option<F>, progress: &'r Progress) -> Self {
        let mut receiver = Self {
            ring,
            next: Position::FIRST,
            feed,
            fill: 0,
            ahead: 0,
            ready: 0,
            held: 0,
            oldest: 0,
            progress,
            brand: PhantomData,
        };
        if !COPY_WARP {
            for _ in 1..Self::STAGES {
                receiver.begin_copies();
            }
        }
        receiver
    }

    /// Lends the next `count` messages one by one.
    ///
    /// # Panics
    /// If messages are held that were received before (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn steps(&mut self, count: u32) -> Steps<'_, 'r, P, F, B, STAGES> {
        const {
            assert!(
                Self::STAGES >= 2,
                "steps need a ring of at least 2 stages: one is filled while the other is used; of one stage, `receive` the message"
            )
        };
        if self.held != 0 {
            self.fail("steps", HELD_MESSAGES)
        }
        Steps { receiver: self, count }
    }

    /// The next message, to be held until [`release`](Self::release).
    ///
    /// Messages are released in the order in which they were received.
    ///
    /// # Panics
    /// If the feed has ended, or all stages are held (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn receive(&mut self) -> Held<'r, P> {
        let slot = self.next.slot;
        let address = self.wait();
        self.held += 1;
        Held { slot, address, reads: Reads::of_held(), message: PhantomData }
    }

    /// Gives the stage of a message back. Waits for all products that are under way, which may be reading it;
    /// [`InFlight::finish`] waits for fewer.
    ///
    /// # Panics
    /// If an older message is still held (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn release(&mut self, message: Held<'r, P>) {
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
    fn wait(&mut self) -> Address {
        let slot = self.next.slot;
        if COPY_WARP {
            let full = self.ring.full(slot);
            // SAFETY: the pipeline initialised the barrier.
            while !unsafe { barriers::try_wait(full, self.next.round) } {
                // When the feed has ended all its messages are there, and this one is none of them. The sender makes the report:
                // its code would cost registers here.
                // SAFETY: the pipeline initialised the barriers, and the word is the ring's own.
                unsafe {
                    if self.held as usize >= Self::STAGES {
                        barriers::poke(self.ring.failed(), HELD_STAGES as u32);
                    } else if barriers::test_wait(self.ring.ended(), 0)
                        && !barriers::try_wait(full, self.next.round)
                    {
                        barriers::poke(self.ring.failed(), ENDED_FEED as u32);
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
        if self.ahead == 0 && has_stage {
            // All stages were held, and one was released since.
            // SAFETY: all threads of the block run this alike. Behind it all are done with stages released.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            self.begin_copies();
        }
        if self.ready == 0 {
            self.fail("receive", if has_stage { ENDED_FEED } else { HELD_STAGES })
        }
        wait_until_under_way(self.ahead.saturating_sub(1) as usize);
        // SAFETY: all threads of the block run this alike. Behind it all have their copies, and are done with stages released.
        unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
        self.ahead -= 1;
        self.ready -= 1;
        if (self.ahead + self.held) as usize + 1 < Self::STAGES {
            self.begin_copies();
        }
    }

    /// Begins copies until all stages but one are on their way, as they are but for messages that were held.
    #[inline(always)]
    fn fill_up(&mut self) {
        if self.ahead as usize + 1 < Self::STAGES {
            // SAFETY: all threads of the block run this alike. Behind it all are done with stages released.
            unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
            while self.ahead as usize + 1 < Self::STAGES {
                self.begin_copies();
            }
        }
    }

    /// Waits for the next message while no other is held; afterwards it lies at the result. All stages but its own are on their
    /// way, or, but for one, at the end of the feed.
    #[inline(always)]
    #[track_caller]
    fn next_filled(&mut self) -> Address {
        if self.ready == 0 {
            self.fail("each", ENDED_FEED)
        }
        self.ready -= 1;
        wait_until_under_way(const { Self::STAGES - 2 });
        // SAFETY: all threads of the block run this alike. Behind it all have their copies, and are done with the stage before.
        unsafe { execution::barrier(const { <B::Threads as PowerOfTwo>::COUNT as u32 }) };
        let slot = self.next.slot;
        self.next.advance(Self::STAGES);
        self.ring.stage(slot)
    }

    /// Begins to copy the next message of the feed into the next stage, which is free.
    #[inline(always)]
    fn begin_copies(&mut self) {
        if let Some(tiles) = self.feed.as_mut().and_then(Iterator::next) {
            // SAFETY: the stage is free: fewer than all are filled or held, and they are filled and released in one order.
            unsafe { tiles.copy_by_threads::<B>(self.ring.stage(self.fill)) };
            self.ready += 1;
            self.fill += 1;
            if self.fill as usize == Self::STAGES {
                self.fill = 0;
            }
        }
        // At the feed's end the groups are empty, so that one is as old as ever when it is waited for.
        barriers::commit_copies();
        self.ahead += 1;
    }

    /// Waits for the next message and calls `step` with its stages, where a warp copies. Then gives back the stage of the step before,
    /// `previous`, whose products are done. Its own stage is the result, if products are reading it.
    #[inline(always)]
    #[track_caller]
    fn step(&mut self, previous: Option<u32>, mut step: impl for<'k> FnMut(P::Stages<'k>)) -> Option<u32> {
        let slot = self.next.slot;
        let address = self.wait();
        let reads = Reads::of_step();
        // SAFETY: the message lies there until its stage is given back, which what reads it precedes.
        let stages = unsafe { P::stages(address, &reads) };
        self.progress.lend(|| step(stages));
        let own = match reads.readers() {
            // SAFETY: all threads of the block run this alike.
            Readers::Products => unsafe {
                warpgroup::commit();
                // The products of the step before have read their stage.
                warpgroup::wait::<1>();
                Some(slot)
            },
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
    pub(super) fn give_back(&mut self, slot: u32) {
        self.held -= 1;
        if COPY_WARP {
            self.arrive_empty(slot);
        } else {
            if slot != self.oldest {
                self.fail("release", ORDER_OF_STAGES)
            }
            self.step_oldest();
        }
    }

    /// Ends the kernel with a report. Where a warp copies, that one makes it: here its code would cost registers.
    #[inline(always)]
    #[track_caller]
    fn fail(&self, operation: &'static str, text: usize) -> ! {
        if !COPY_WARP {
            Failure::new(operation, text).end()
        }
        loop {
            // SAFETY: the word is the ring's own.
            unsafe { barriers::poke(self.ring.failed(), text as u32) };
            barriers::rest();
        }
    }

    #[inline(always)]
    fn step_oldest(&mut self) {
        self.oldest += 1;
        if self.oldest as usize == Self::STAGES {
            self.oldest = 0;
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

/// The next messages of a [`Receiver`], to be lent one by one.
#[must_use = "messages are received by `each`"]
pub struct Steps<'s, 'r, P, F, B, const STAGES: usize> {
    receiver: &'s mut Receiver<'r, P, F, B, STAGES>,
    count: u32,
}

impl<P, F, B, const STAGES: usize> Steps<'_, '_, P, F, B, STAGES>
where
    P: Message,
    F: Iterator<Item: Fills<P>>,
    B: Block,
{
    /// Calls `step` with the stages of each message. Products that it puts under way run on while the next step begins; a
    /// stage is given back when the step after it has begun its own.
    ///
    /// # Panics
    /// If the feed has fewer messages (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn each(self, mut step: impl for<'k> FnMut(P::Stages<'k>)) {
        let receiver = self.receiver;
        let mut count = self.count;
        if !COPY_WARP {
            receiver.fill_up();
            // Here nobody reads on when a step has ended.
            let reads = Reads::of_step();
            while count != 0 {
                count -= 1;
                let address = receiver.next_filled();
                // SAFETY: the message lies there: its stage is filled again behind the barrier of the next message.
                step(unsafe { P::stages(address, &reads) });
                receiver.begin_copies();
                receiver.ahead -= 1;
                receiver.step_oldest();
            }
            return;
        }
        let mut previous = None;
        while count != 0 {
            count -= 1;
            previous = receiver.step(previous, &mut step);
        }
        receiver.after_steps(previous);
    }

    /// The sums of the products that `product` puts under way in each step, as [`each`](Self::each) with an [`Accumulator`]; zero
    /// where there is no step.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// The scalar products of all rows of `a` with all rows of `b`.
    /// #[kernel(threads = 128, copy = 32)]
    /// pub fn scalar_products(
    ///     block: Split,
    ///     a: TileSource<f16, Shape2<64, 64>>,
    ///     b: TileSource<f16, Shape2<64, 64>>,
    ///     c: TileSink<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(Staged<f16, Shape2<64, 64>>, Staged<f16, Shape2<64, 64>>)>,
    ///     #[shared] mut stash: Stash<1>,
    /// ) {
    ///     let (order, steps) = (Swizzled::<16>, a.tile_counts().1);
    ///     let feed = block.indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     block.pipeline(ring, feed, move |cx, mut receiver| {
    ///         for tile in c.deal(cx, order) {
    ///             let sums = receiver.steps(steps).sum(cx, |sums, (a, b)| sums.mma(a, b.transposed()));
    ///             tile.store(&mut stash, sums);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    /// As [`each`](Self::each).
    #[inline(always)]
    #[track_caller]
    pub fn sum<C: Element, S: Shape>(
        self,
        cx: Cx<B>,
        mut product: impl for<'k> FnMut(&mut Accumulator<C, S, B>, P::Stages<'k>),
    ) -> Tile<C, S, Accumulators<B>> {
        if !P::BY_WARPGROUPS {
            let mut sums = Accumulator::zero(cx);
            self.each(|stages| product(&mut sums, stages));
            return sums.finish();
        }
        let (receiver, mut count) = (self.receiver, self.count);
        let mut sums = Accumulator::unset(cx);
        if count == 0 {
            return sums.into_tile();
        }
        // The first step by itself, as no other one takes the place of what the accumulators hold.
        let mut previous = receiver.step(None, |stages| product(&mut sums, stages));
        while count != 1 {
            count -= 1;
            previous = receiver.step(previous, |stages| product(&mut sums, stages));
        }
        receiver.after_steps(previous);
        sums.settle::<true>();
        sums.into_tile()
    }
}
