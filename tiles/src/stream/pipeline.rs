//! Roles of a block: a warp that copies, threads that compute, and the ring between them.

use super::fills::Fills;
use super::progress::Progress;
use super::receiver::{Position, Receiver};
use super::ring::Ring;
use super::rings::Rings;
use super::split::Split;
use super::staged::Message;
use crate::arch::barriers::{self, COPY_WARP};
use crate::arch::matrix::WARPGROUPS;
use crate::arch::messages::Failure;
use crate::arch::{bulk, execution, order, threads, warpgroup};
use crate::context::Cx;
use crate::debug::protocol::HELD_MESSAGES;
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
pub trait CopiesAlone: Send {}

#[diagnostic::do_not_recommend]
impl<X: Send + 'static> CopiesAlone for X {}

impl<B: Block> Split<B> {
    /// Splits the block into its roles. One warp copies the tiles that `feed` names into the ring, in order and as far ahead as
    /// there are stages; the other threads run `compute`, which receives them in the same order. Where the GPU has no copy
    /// engine (before 9.0) the computing threads copy for themselves, and on the CPU tiles are copied when they are received.
    ///
    /// `feed` is any iterator over tiles of [`TileSource`](super::TileSource)s, or tuples of them. It runs in the copying warp,
    /// and may therefore capture sources and numbers only. The two sides cannot wait for each other for ever: receiving
    /// more than the feed has is an error, and messages that nobody receives are not copied.
    ///
    /// Nothing follows: a kernel ends with its pipeline, out of which neither side can hand anything; both own what they use
    /// (`move`).
    ///
    /// # Panics
    /// If more is received than the feed has, or stages are held that are needed (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn pipeline<P, I, const STAGES: usize>(
        self,
        ring: Ring<P, STAGES>,
        feed: I,
        compute: impl for<'r> FnOnce(Cx<B>, Receiver<'r, P, I::IntoIter, B, STAGES>) + 'static,
    ) where
        P: Message,
        I: IntoIterator<Item: Fills<P>> + CopiesAlone,
    {
        self.pipelines((ring,), (feed,), |cx, (receiver,)| compute(cx, receiver));
    }

    /// As [`pipeline`](Self::pipeline), with up to three rings that are filled and received from independently of each other: for an
    /// operand that stays while another streams, or operands that are used up at different rates. Each ring has a
    /// feed, a copying warp and a receiver of its own; a kernel with two rings states `copy = 64`, or `copy = 128`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// type Rows = Shape2<64, 64>;
    ///
    /// /// `y = x w` for weights of 64 x 64: they stay in shared memory while the rows stream.
    /// #[kernel(threads = 128, copy = 64)]
    /// pub fn linear(
    ///     block: Split,
    ///     x: TileSource<f16, Rows>,
    ///     w: TileSource<f16, Rows>,
    ///     y: TileSink<f16, Rows>,
    ///     #[shared] weights: Ring<Staged<f16, Rows>, 1>,
    ///     #[shared] rows: Ring<Staged<f16, Rows>, 4>,
    ///     #[shared] stash: Stash<1>,
    /// ) {
    ///     let tiles = block.indices(RowMajor, y.tile_counts()).map(move |[_, i, _]| x.tile(i, 0));
    ///     block.pipelines((weights, rows), ([w.tile(0, 0)], tiles), move |cx, (mut weights, mut rows)| {
    ///         let (mut stash, tiles) = (stash, y.deal(cx, RowMajor));
    ///         let w = weights.receive();
    ///         for tile in tiles {
    ///             let sums = rows.steps(1).sum::<f32, _, _, _>(cx, |sums, x| sums.mma(x, w.stages()));
    ///             tile.store(&mut stash, sums.cast());
    ///         }
    ///         weights.release(w);
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    /// As [`pipeline`](Self::pipeline).
    #[inline(always)]
    #[track_caller]
    pub fn pipelines<R, I>(
        self,
        rings: R,
        feeds: I,
        compute: impl for<'a, 'b, 'c> FnOnce(Cx<B>, R::Receivers<'a, 'b, 'c, B>) + 'static,
    ) where
        R: Rings<I>,
    {
        const {
            assert!(
                B::COPY_THREADS / WARP >= R::COUNT,
                "each ring of a pipeline has a copying warp: state `copy = 64` for two rings, `copy = 96` for three, or `copy = 128`"
            )
        };
        let compute_threads = const { <B::Threads as PowerOfTwo>::COUNT as u32 };
        let (cx, progress) = (self.context(), Progress::default());
        if !COPY_WARP {
            order::feeds();
            let receivers = rings.receivers(Some(feeds), &progress);
            order::fed();
            compute(cx, receivers);
            return;
        }
        let copies = rings.aliases();
        // SAFETY: all threads of the block are here, and those of a warp take the same branches; the rings' memory is their own.
        unsafe {
            if execution::thread() == 0 {
                copies.initialise(compute_threads / WARP);
                barriers::publish_initialised();
            }
            execution::barrier_of_all();
            let warp = execution::from_lane(execution::thread() as u32 / WARP, 0);
            if warp < compute_threads / WARP {
                if const { moves_registers::<B>() } {
                    barriers::take_registers::<COMPUTE_REGISTERS>();
                }
                compute(cx, rings.receivers(None, &progress));
                warpgroup_wait();
                // Buffers are read until then; the memory is another block's when this one has ended.
                bulk::wait_for_reads::<0>();
                if threads::lane(execution::thread() as u32) == 0 {
                    copies.close();
                }
            } else {
                if const { moves_registers::<B>() } {
                    barriers::give_registers::<COPY_REGISTERS>();
                }
                let number = warp - compute_threads / WARP;
                if number < R::COUNT && barriers::elect() {
                    copies.send(number, feeds);
                }
            }
        }
    }
}

/// Whether copying threads give registers to computing ones: for the one split of a block in which the counts add up, where
/// warpgroups multiply. Other targets do not have the instruction.
const fn moves_registers<B: Block>() -> bool {
    WARPGROUPS && <B::Threads as PowerOfTwo>::COUNT == 256 && B::COPY_THREADS == 128
}

/// Waits for all products of this warpgroup, where there are any.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline(always)]
unsafe fn warpgroup_wait() {
    if WARPGROUPS {
        // SAFETY: the same contract.
        unsafe { warpgroup::wait::<0>() }
    }
}

impl<P: Message, const STAGES: usize> Ring<P, STAGES> {
    /// Makes the barriers and the word, for so many warps that receive.
    ///
    /// # Safety
    /// One thread calls it, before any other uses the ring.
    #[inline(always)]
    pub(super) unsafe fn initialise(&self, warps: u32) {
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
            barriers::poke(self.failed(), 0);
        }
    }

    /// Says that this warp receives no more.
    ///
    /// # Safety
    /// One lane of each warp that receives calls it, once, on initialised barriers.
    #[inline(always)]
    pub(super) unsafe fn close(&self) {
        // SAFETY: the barrier counts one arrival a warp.
        unsafe { barriers::arrive(self.closed()) }
    }

    /// The copying role: copies what the feed names, each message as soon as its stage is free.
    ///
    /// # Safety
    /// One thread of the block calls it, on initialised barriers.
    #[inline(always)]
    #[track_caller]
    pub(super) unsafe fn send<F: Iterator<Item: Fills<P>>>(&self, mut feed: F) {
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
                tiles.copy_by_engine(self.stage(next.slot), self.full(next.slot));
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

    /// The number of the text that says how the receiver has failed; zero if it has not.
    ///
    /// # Safety
    /// The ring is initialised.
    #[inline(always)]
    unsafe fn failure(&self) -> usize {
        // SAFETY: the word is the ring's own.
        unsafe { barriers::peek(self.failed()) as usize }
    }

    /// Ends the kernel if the receiver has failed.
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
