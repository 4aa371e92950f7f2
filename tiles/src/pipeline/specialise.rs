//! Warp specialisation: the block splits into producer warps and consumer warps, with rings between them.

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::matrix::WARPGROUPS;
use crate::arch::{bulk, cluster, execution, order, threads, warpgroup};
use crate::context::Cx;
use crate::layout::{Block, WARPGROUP};
use crate::memory::stage_layout::StageLayout;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::consumer::progress::Progress;
use crate::pipeline::producer::{ProducerSafe, StageLoad};
use crate::pipeline::ring::Ring;
use crate::pipeline::rings::Rings;
use crate::pipeline::roles::WarpRoles;
use crate::registers::PowerOfTwo;

/// Threads of a warp.
const WARP: u32 = 32;

const SPANS_OF_ONE_BLOCK: &str = "blocks that share a producer or a cluster load tiles of `TmaLoad`s: a kernel that streams tiles of spans has \
                                  no `consumers` and no `cluster`";

/// Whether blocks have rings like these, whose loads are copied `by_threads` or by TMA.
const fn can_stream<B: Block>(by_threads: bool) -> bool {
    !by_threads || B::CLUSTER_SIZE * B::CONSUMERS == 1
}

impl<B: Block> WarpRoles<B> {
    /// Splits the block into a producer warp, which copies `loads` into the ring, and consumer warps, which run `compute`.
    ///
    /// The producer copies in order, as far ahead as the ring has stages. Consumers wait for the stages in the same order.
    /// `loads` is an iterator over tiles of [`TmaLoad`](crate::memory::TmaLoad)s, over [tiles](crate::span::TensorSpan::tile) of
    /// [`Span`](crate::span::Span)s, or over tuples of such tiles. It runs in the producer warp and can therefore capture `TmaLoad`s, `Span`s
    /// and numbers alone. Of a span it also reads elements by [`item`](crate::span::TensorSpan::item), such as the numbers of pages.
    ///
    /// The kernel ends with its pipeline. Neither role returns anything, and both own their captures (`move`).
    ///
    /// Blocks that share a producer (`consumers` of [`#[kernel]`](crate::kernel)) wait for all its stages, each by itself. A stage is
    /// filled again when all of them have released it or ended.
    ///
    /// # On a GPU
    ///
    /// One producer thread starts the copies by TMA. Producer threads copy the tiles of spans by `cp.async`: those of all producer warps, or of
    /// the ring's own one if there are several rings. So such a kernel wants `producer = 128`. It has neither `consumers` nor `cluster`.
    ///
    /// Before compute capability 9.0 there is no TMA, and the consumers copy for themselves by `cp.async`. On the CPU a tile is
    /// copied when the consumer waits for it. A wait beyond the last load is an error. Loads that no consumer waits for are not
    /// copied. Stages are released in the order of their waits, see [`Consumer::release`].
    ///
    /// # Panics
    ///
    /// If a consumer waits for more stages than `loads` has, or holds stages that it needs (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn pipeline<P, I, const STAGES: usize>(
        self,
        ring: Ring<P, STAGES>,
        loads: I,
        compute: impl for<'r> FnOnce(Cx<B>, Consumer<'r, P, I::IntoIter, B, STAGES>) + 'static,
    ) where
        P: StageLayout,
        I: IntoIterator<Item: StageLoad<P>> + ProducerSafe,
    {
        // As in `pipelines`, where the compiler does not show the user's line.
        const { assert!(can_stream::<B>(<I::Item as StageLoad<P>>::BY_THREADS), "{}", SPANS_OF_ONE_BLOCK) };
        self.pipelines((ring,), (loads,), |cx, (consumer,)| compute(cx, consumer));
    }

    /// As [`pipeline`](Self::pipeline), with up to three rings that are filled and consumed independently of each other.
    ///
    /// Use several rings for an operand that stays while another streams, or for operands that are consumed at different rates.
    /// Each ring has loads, a producer warp and a consumer of its own. A kernel with two rings states `producer = 64` or
    /// `producer = 128`.
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
    ///             let acc = rows.k_loop(1).accumulate(|acc, x| acc.mma(x, w.tiles()));
    ///             tile.store(&mut buffer, acc.cast());
    ///         }
    ///         weights.release(w);
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`pipeline`](Self::pipeline).
    #[inline_on_device]
    #[track_caller]
    pub fn pipelines<R, I>(
        self,
        rings: R,
        loads: I,
        compute: impl for<'a, 'b, 'c> FnOnce(Cx<B>, R::Receivers<'a, 'b, 'c, B>) + 'static,
    ) where
        R: Rings<I>,
    {
        const {
            assert!(
                B::PRODUCER_THREADS / WARP >= R::COUNT,
                "each ring of a pipeline has a producer warp: state `producer = 64` for two rings, `producer = 96` for three, or `producer = 128`"
            );
            assert!(can_stream::<B>(R::BY_THREADS), "{}", SPANS_OF_ONE_BLOCK)
        };
        let warps = const { <B::Threads as PowerOfTwo>::COUNT as u32 / WARP };
        let (cx, progress) = (self.context(), Progress::default());
        if !PRODUCER_WARP {
            order::producer_begins();
            let consumers = rings.consumers(Some(loads), cx.number_in_group(), &progress);
            order::producer_ends();
            compute(cx, consumers);
            return;
        }
        let producers = rings.aliases();
        // SAFETY: all threads of the CTA are here, and all threads of a warp take the same branches. The rings' memory
        // belongs to the rings.
        unsafe {
            // The blocks of a CTA have their warps one behind the other, and the producer warps come last.
            let (consumer, warp) = (cx.consumer_number(), execution::thread() as u32 / WARP);
            let warp = consumer * warps + execution::from_lane(warp, 0);
            if warp == 0 && threads::lane(execution::thread() as u32) == 0 {
                producers.initialise::<B>(B::CLUSTER_SIZE, const { B::CONSUMERS * B::CLUSTER_SIZE }, warps);
                barriers::fence_mbarrier_init();
            }
            if const { B::CLUSTER_SIZE > 1 } {
                cluster::barrier();
            } else {
                execution::barrier_of_all();
            }
            if warp < B::CONSUMERS * warps {
                match const { registers_moved::<B>() } {
                    Some(Moved::Two) => barriers::setmaxnreg_inc::<232>(),
                    Some(Moved::TwoOfCluster) => barriers::setmaxnreg_inc::<224>(),
                    Some(Moved::Three) => barriers::setmaxnreg_inc::<160>(),
                    None => {}
                }
                compute(cx, rings.consumers(None, cx.number_in_group(), &progress));
                warpgroup_wait();
                // Stores by TMA read the epilogue buffers until then. After the block's end the memory belongs to another
                // block.
                bulk::wait_for_reads::<0>();
                if threads::lane(execution::thread() as u32) == 0 {
                    producers.close::<B>(cx.number_in_group());
                }
                if const { B::CLUSTER_SIZE > 1 } {
                    cluster::barrier();
                }
            } else {
                match const { registers_moved::<B>() } {
                    Some(Moved::Two) => barriers::setmaxnreg_dec::<40>(),
                    Some(Moved::TwoOfCluster) => barriers::setmaxnreg_dec::<56>(),
                    Some(Moved::Three) => barriers::setmaxnreg_dec::<32>(),
                    None => {}
                }
                let number = warp - B::CONSUMERS * warps;
                if const { R::BY_THREADS } {
                    producers.produce_by_threads::<B>(number, loads);
                } else if number < R::COUNT && barriers::elect_sync() {
                    producers.produce::<B>(number, loads, cx.tile_of_cluster());
                    // Until here the blocks of a cluster arrive at each other's barriers. The other lanes have exited, and the barrier does
                    // not wait for them. If they met this one again, `ptxas` would let it yield to them in each step.
                    if const { B::CLUSTER_SIZE > 1 } {
                        cluster::barrier();
                    }
                }
            }
        }
    }
}

/// The registers that a warpgroup of producer threads gives to warpgroups of consumers, of those that the launch allots alike.
#[derive(Clone, Copy)]
enum Moved {
    /// To two: 168 for each of 384 threads become 40 and 232.
    Two,
    /// To two, in a cluster, whose producers keep more: 56 and 224.
    TwoOfCluster,
    /// To three: 128 for each of 512 threads become 32 and 160.
    Three,
}

/// The registers that producer threads give to consumer threads, on targets with warpgroups: in the splits of a CTA in which the
/// counts add up. Other targets do not have `setmaxnreg`.
const fn registers_moved<B: Block>() -> Option<Moved> {
    let consumers = <B::Threads as PowerOfTwo>::COUNT * B::CONSUMERS as usize;
    if !WARPGROUPS || B::PRODUCER_THREADS as usize != WARPGROUP {
        None
    } else if consumers == 2 * WARPGROUP {
        Some(if B::CLUSTER_SIZE > 1 { Moved::TwoOfCluster } else { Moved::Two })
    } else if consumers == 3 * WARPGROUP {
        Some(Moved::Three)
    } else {
        None
    }
}

/// Waits for all multiplications of this warpgroup, where there are warpgroups.
///
/// # Safety
/// All threads of the warpgroup execute this same call.
#[inline_on_device]
unsafe fn warpgroup_wait() {
    if WARPGROUPS {
        // SAFETY: the same contract.
        unsafe { warpgroup::wait::<0>() }
    }
}
