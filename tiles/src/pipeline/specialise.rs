//! Roles of a block: a warp that copies, threads that compute, and the ring between them.

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::matrix::WARPGROUPS;
use crate::arch::{bulk, execution, order, threads, warpgroup};
use crate::context::Cx;
use crate::layout::Block;
use crate::memory::shared_tile::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::{ProducerSafe, StageLoad};
use crate::pipeline::ring::Ring;
use crate::pipeline::rings::Rings;
use crate::pipeline::roles::WarpRoles;
use crate::registers::PowerOfTwo;

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers that a copying thread keeps, where a whole warpgroup copies for two that compute.
const PRODUCER_REGISTERS: u32 = 40;
/// Registers that each computing thread then has: of 64,512, which the launch allots to 384 threads, all the others.
const CONSUMER_REGISTERS: u32 = 232;

impl<B: Block> WarpRoles<B> {
    /// Splits the block into its roles. One warp copies the tiles that `feed` names into the ring, in order and as far ahead as
    /// there are stages; the other threads run `compute`, which receives them in the same order. Where the GPU has no copy
    /// engine (before 9.0) the computing threads copy for themselves, and on the CPU tiles are copied when they are received.
    ///
    /// `feed` is any iterator over tiles of [`TmaLoad`](super::TmaLoad)s, or tuples of them. It runs in the copying warp,
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
        compute: impl for<'r> FnOnce(Cx<B>, Consumer<'r, P, I::IntoIter, B, STAGES>) + 'static,
    ) where
        P: StageLayout,
        I: IntoIterator<Item: StageLoad<P>> + ProducerSafe,
    {
        self.pipelines((ring,), (feed,), |cx, (consumer,)| compute(cx, consumer));
    }

    /// As [`pipeline`](Self::pipeline), with up to three rings that are filled and received from independently of each other: for an
    /// operand that stays while another streams, or operands that are used up at different rates. Each ring has a
    /// feed, a copying warp and a consumer of its own; a kernel with two rings states `producer = 64`, or `producer = 128`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// type Rows = Shape2<64, 64>;
    ///
    /// /// `y = x w` for weights of 64 x 64: they stay in shared memory while the rows stream.
    /// #[kernel(threads = 128, producer = 64)]
    /// pub fn linear(
    ///     roles: WarpRoles,
    ///     x: TmaLoad<f16, Rows>,
    ///     w: TmaLoad<f16, Rows>,
    ///     y: TmaStore<f16, Rows>,
    ///     #[shared] weights: Ring<SharedTile<f16, Rows>, 1>,
    ///     #[shared] rows: Ring<SharedTile<f16, Rows>, 4>,
    ///     #[shared] buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let tiles = roles.tile_indices(RowMajor, y.tile_counts()).map(move |[_, i, _]| x.tile(i, 0));
    ///     roles.pipelines((weights, rows), ([w.tile(0, 0)], tiles), move |cx, (mut weights, mut rows)| {
    ///         let (mut buffer, tiles) = (buffer, y.schedule(cx, RowMajor));
    ///         let w = weights.wait();
    ///         for tile in tiles {
    ///             let sums = rows.k_loop(1).accumulate(cx, |sums, x| sums.mma(x, w.tiles()));
    ///             tile.store(&mut buffer, sums.cast());
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
                B::PRODUCER_THREADS / WARP >= R::COUNT,
                "each ring of a pipeline has a copying warp: state `producer = 64` for two rings, `producer = 96` for three, or `producer = 128`"
            )
        };
        let compute_threads = const { <B::Threads as PowerOfTwo>::COUNT as u32 };
        let (cx, progress) = (self.context(), Progress::default());
        if !PRODUCER_WARP {
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
                barriers::fence_mbarrier_init();
            }
            execution::barrier_of_all();
            let warp = execution::from_lane(execution::thread() as u32 / WARP, 0);
            if warp < compute_threads / WARP {
                if const { moves_registers::<B>() } {
                    barriers::setmaxnreg_inc::<CONSUMER_REGISTERS>();
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
                    barriers::setmaxnreg_dec::<PRODUCER_REGISTERS>();
                }
                let number = warp - compute_threads / WARP;
                if number < R::COUNT && barriers::elect_sync() {
                    copies.send(number, feeds);
                }
            }
        }
    }
}

/// Whether copying threads give registers to computing ones: for the one split of a block in which the counts add up, where
/// warpgroups multiply. Other targets do not have the instruction.
const fn moves_registers<B: Block>() -> bool {
    WARPGROUPS && <B::Threads as PowerOfTwo>::COUNT == 256 && B::PRODUCER_THREADS == 128
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
