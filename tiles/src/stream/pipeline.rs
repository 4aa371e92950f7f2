//! Roles of a block: a warp that copies, threads that compute, and the ring between them.

use super::fills::Fills;
use super::receiver::{Position, Receiver};
use super::ring::Ring;
use super::split::Split;
use super::staged::Message;
use crate::arch::barriers::{self, COPY_WARP};
use crate::arch::messages::Failure;
use crate::arch::{bulk, execution, threads, warpgroup};
use crate::context::Cx;
use crate::debug::protocol::ENDED_FEED;
use crate::layout::Block;
use crate::registers::PowerOfTwo;

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers that a copying thread keeps, where a whole warpgroup copies for two that compute.
const COPY_REGISTERS: u32 = 40;
/// Registers that each computing thread then has: of 64,512, which the launch allots to 384 threads, all the others.
const COMPUTE_REGISTERS: u32 = 232;

/// What the copying role can do alone: everything but tile operations, which are the computing threads'.
#[diagnostic::on_unimplemented(
    message = "the feed of a pipeline runs in the copying warp, and can use sources and numbers alone",
    label = "holds the running block, a tile or a view",
    note = "tile operations belong to the computing threads: let the feed capture sources and numbers, by `move`"
)]
pub trait CopiesAlone {}

#[diagnostic::do_not_recommend]
impl<X: Send> CopiesAlone for X {}

impl<B: Block> Split<B> {
    /// Splits the block into its roles. One warp copies the tiles that `feed` names into the ring, in order and as far ahead as
    /// there are stages; the other threads run `compute`, which receives them in the same order. Where the GPU has no copy
    /// engine (before 9.0) the computing threads copy for themselves, and on the CPU tiles are copied when they are received.
    ///
    /// `feed` is any iterator over tiles of [`TileSource`](super::TileSource)s, or tuples of them. It runs in the copying warp,
    /// and may therefore capture sources and numbers only. The two sides cannot wait for each other for ever: receiving
    /// more than the feed has is an error, and messages that nobody receives are not copied.
    ///
    /// Nothing follows: a kernel ends with its pipeline.
    ///
    /// # Panics
    /// If more is received than the feed has, or stages are held that are needed (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn pipeline<P, I, const STAGES: usize>(
        self,
        ring: Ring<P, STAGES>,
        feed: I,
        compute: impl for<'r> FnOnce(Cx<B>, Receiver<'r, P, I::IntoIter, B, STAGES>),
    ) where
        P: Message,
        I: IntoIterator<Item: Fills<P>> + CopiesAlone,
    {
        let compute_threads = const { <B::Threads as PowerOfTwo>::COUNT as u32 };
        let cx = self.context();
        if !COPY_WARP {
            compute(cx, Receiver::new(ring, Some(feed.into_iter())));
            return;
        }
        let copy = ring.alias();
        // SAFETY: all threads of the block are here, and those of a warp take the same branches; the ring's memory is its own.
        unsafe {
            if execution::thread() == 0 {
                initialise(&ring, compute_threads / WARP);
            }
            execution::barrier_of_all();
            let warp = execution::from_lane(execution::thread() as u32 / WARP, 0);
            if warp < compute_threads / WARP {
                if const { moves_registers::<B>() } {
                    barriers::take_registers::<COMPUTE_REGISTERS>();
                }
                compute(cx, Receiver::new(ring, None));
                warpgroup_wait();
                // Buffers are read until then; the memory is another block's when this one has ended.
                bulk::wait_for_reads::<0>();
                if threads::lane(execution::thread() as u32) == 0 {
                    barriers::arrive(copy.closed());
                }
            } else {
                if const { moves_registers::<B>() } {
                    barriers::give_registers::<COPY_REGISTERS>();
                }
                if warp == compute_threads / WARP && barriers::elect() {
                    send(&copy, feed.into_iter());
                }
            }
        }
    }
}

/// Whether copying threads give registers to computing ones: for the one split of a block in which the counts add up.
const fn moves_registers<B: Block>() -> bool {
    <B::Threads as PowerOfTwo>::COUNT == 256 && B::COPY_THREADS == 128
}

/// Waits for all products of this warpgroup, where there are any.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline(always)]
unsafe fn warpgroup_wait() {
    if crate::arch::matrix::WARPGROUPS {
        // SAFETY: the same contract.
        unsafe { warpgroup::wait::<0>() }
    }
}

/// Makes the ring's barriers and its word.
///
/// # Safety
/// One thread calls it, before any other uses the ring.
#[inline(always)]
unsafe fn initialise<P: Message, const STAGES: usize>(ring: &Ring<P, STAGES>, warps: u32) {
    let mut slot = 0;
    while slot < Ring::<P, STAGES>::HERE as u32 {
        // SAFETY: the memory is the ring's. A stage is full when the sender has announced its bytes and they are there; empty
        // when each computing warp is done with it.
        unsafe {
            barriers::initialise(ring.full(slot), 1);
            barriers::initialise(ring.empty(slot), warps);
        }
        slot += 1;
    }
    // SAFETY: as above.
    unsafe {
        barriers::initialise(ring.ended(), 1);
        barriers::initialise(ring.closed(), warps);
        barriers::poke(ring.starved(), 0);
    }
    barriers::publish_initialised();
}

/// The copying role: copies what the feed names, each message as soon as its stage is free.
///
/// # Safety
/// One thread of the block calls it, on initialised barriers.
#[inline(always)]
#[track_caller]
unsafe fn send<P: Message, F: Iterator<Item: Fills<P>>, const STAGES: usize>(
    ring: &Ring<P, STAGES>,
    mut feed: F,
) {
    let stages = Ring::<P, STAGES>::HERE;
    let mut next = Position::FIRST;
    let mut sent = 0_u32;
    // Iteration within the iterator: one that is made of several, by `flat_map`, is then a loop in a loop.
    let _ = feed.try_for_each(|tiles| {
        // SAFETY: the barriers are initialised. The empty one's round before is complete when all warps have released the
        // stage, or, in the first round, from the beginning; then the stage is this thread's until the bytes are there.
        unsafe {
            while !barriers::try_wait(ring.empty(next.slot), next.round ^ 1) {
                if barriers::test_wait(ring.closed(), 0) {
                    return Err(());
                }
            }
            barriers::arrive_expecting(ring.full(next.slot), P::BYTES as u32);
            tiles.copy_by_engine(ring.stage(next.slot), ring.full(next.slot));
        }
        next.advance(stages);
        sent = if sent < stages as u32 { sent + 1 } else { sent };
        Ok(())
    });
    // The block's memory is given to another block when all threads have ended: no copy may be under way then.
    let mut slot = 0;
    while slot < sent {
        // A stage behind the next one was filled in the round before.
        let round = if slot < next.slot { next.round } else { next.round ^ 1 };
        // SAFETY: a message was sent to this stage in this round.
        unsafe { while !barriers::try_wait(ring.full(slot), round) {} }
        slot += 1;
    }
    // SAFETY: the barriers are initialised, and the word is the ring's.
    unsafe {
        barriers::arrive(ring.ended());
        while !barriers::test_wait(ring.closed(), 0) {
            if barriers::peek(ring.starved()) != 0 {
                Failure::new("receive", ENDED_FEED).end()
            }
            barriers::rest();
        }
    }
}
