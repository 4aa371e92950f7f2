//! Tiles that a block copies ahead for itself, without warp roles.
//!
//! A loop over tiles waits for memory in each step. Here the tiles of the next steps are on their way to the stages of a ring while the
//! block computes on those of this step. All threads do both: they start copies by `cp.async`, or one thread starts copies by TMA, and
//! all of them compute.
//!
//! `tiles` is what can be copied. This file has the order of events in a step:
//!
//! * wait until the step's stage is filled;
//! * a barrier, behind which all threads see the stage, and have read the stages before it;
//! * the copies of a later step, to a stage that everybody has read, unless warpgroups could multiply its tiles;
//! * the step itself, whose multiplications by warpgroups are only started;
//! * where warpgroups could multiply, the copies of a later step, and a wait for the multiplications of the step before.

mod tiles;

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::{execution, order, threads, warpgroup};
use crate::context::{Cx, barrier};
use crate::element::Repack;
use crate::layout::{Accumulators, Block, WARPGROUP};
use crate::memory::reads::{Readers, Reads};
use crate::memory::stage_layout::StageLayout;
use crate::mma::accumulation::Accumulation;
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::KLoopElement;
use crate::pipeline::consumer::wait_until_under_way;
use crate::pipeline::ring::{Position, Ring};
use crate::registers::PowerOfTwo;
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;
pub use tiles::CopyAhead;

impl<P: StageLayout, const STAGES: usize> Ring<P, STAGES> {
    /// The tiles of `steps` steps, copied into the ring ahead of the steps that read them: `tiles(k)` is what step `k` reads.
    ///
    /// This is for kernels without warp roles, whose first argument is `Cx`. Tiles are those of any view of a
    /// [`Span`](crate::span::Span), from [`TiledView::tile`](crate::view::TiledView::tile), or those of a
    /// [`TmaLoad`](crate::memory::TmaLoad). `tiles` may read memory itself, for example the numbers of pages. The result is a loop:
    /// [`accumulate`](CopiedAhead::accumulate) multiplies, [`for_each`](CopiedAhead::for_each) does anything else.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b`, for matrices of any size and alignment.
    /// #[kernel(threads = 256, grid = 2)]
    /// pub fn product(
    ///     cx: Cx,
    ///     a: Span<f16, (u32, u32)>,
    ///     b: Span<f16, (u32, u32)>,
    ///     c: SpanMut<f16, (u32, u32)>,
    ///     #[shared] mut ring: Ring<(SharedTile<f16, Shape2<128, 64>>, SharedTile<f16, Shape2<64, 128>>), 3>,
    /// ) {
    ///     let (a, b) = (a.partition(cx, shape![128, 64]), b.partition(cx, shape![64, 128]));
    ///     let c = c.partition(cx, shape![128, 128]);
    ///     let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    ///     let tiles = ring.copy_ahead(cx, a.num_tiles(1), |k| (a.tile((i, k)), b.tile((k, j))));
    ///     let acc = tiles.accumulate(|acc, (a, b)| acc.mma(a, b));
    ///     c.store_masked(acc.cast::<f16>(), (i, j));
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// All threads copy by `cp.async` (PTX ISA, "Data Movement and Conversion Instructions: Non-bulk copy"). If all tiles of a step are
    /// those of `TmaLoad`s, one thread copies by `cp.async.bulk.tensor` from compute capability 9.0 on. A ring of `n` stages has the tiles
    /// of `n - 2` later steps on their way where warpgroups multiply, and of `n - 1` elsewhere and of three stages in a block of 128 threads.
    ///
    /// # Panics
    ///
    /// If a tile belongs to another block.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("cp_async", "memcpy_async", "num_stages"))]
    pub fn copy_ahead<B: Block, L: CopyAhead<P>, F: FnMut(u32) -> L>(
        &mut self,
        _cx: Cx<B>,
        steps: u32,
        tiles: F,
    ) -> CopiedAhead<'_, P, F, B, STAGES> {
        const {
            assert!(
                Self::HERE >= 2,
                "tiles that are copied ahead need a ring of at least 2 stages: one is filled while the other is read"
            )
        };
        self.assert_current();
        CopiedAhead { ring: self, steps, tiles, block: PhantomData }
    }
}

/// A loop over tiles that are copied ahead, from [`Ring::copy_ahead`].
#[must_use = "tiles that are copied ahead are read by `accumulate` or `for_each`"]
pub struct CopiedAhead<'r, P, F, B, const STAGES: usize> {
    ring: &'r mut Ring<P, STAGES>,
    steps: u32,
    tiles: F,
    block: PhantomData<(B, *const ())>,
}

impl<P, L, F, B, const STAGES: usize> CopiedAhead<'_, P, F, B, STAGES>
where
    P: StageLayout,
    L: CopyAhead<P>,
    F: FnMut(u32) -> L,
    B: Block,
{
    /// Calls `step` with the tiles of each step.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// The sums of rows of any length, 16 rows a block.
    /// #[kernel(threads = 256)]
    /// pub fn row_sums(
    ///     cx: Cx,
    ///     x: Span<f32, (u32, u32)>,
    ///     y: SpanMut<f32, (u32,)>,
    ///     #[shared] mut ring: Ring<SharedTile<f32, Shape2<16, 256>>, 4>,
    /// ) {
    ///     let (x, y, i) = (x.partition(cx, shape![16, 256]), y.partition(cx, shape![16]), cx.bid::<0>());
    ///     let mut sums = cx.zeros::<f32>(shape![16, 256]);
    ///     ring.copy_ahead(cx, x.num_tiles(1), |k| x.tile((i, k))).for_each(|tile| sums += tile.load(cx));
    ///     y.store_masked(sums.sum::<1>().reshape(shape![16]), i);
    /// }
    /// ```
    ///
    /// Elements outside the tensor are zero. Multiplications that `step` starts by
    /// [`Accumulator::mma`](crate::mma::Accumulator::mma) go on while the next step begins.
    #[inline_on_device]
    #[track_caller]
    pub fn for_each(self, mut step: impl for<'k> FnMut(P::Tiles<'k>)) {
        let mut steps = Steps::begin(self);
        let mut products = false;
        while !steps.are_done() {
            products = steps.step(products, &mut step);
        }
        steps.end(products);
    }

    /// The accumulators of the multiplications that `product` starts in each step; zero if there is no step.
    ///
    /// The type of the accumulators follows from the operands: see [`KLoopElement`]. [`Ring::copy_ahead`] has an example.
    ///
    /// # On a GPU
    ///
    /// As [`KLoop::accumulate`](super::KLoop::accumulate).
    #[inline_on_device]
    #[track_caller]
    pub fn accumulate<T: KLoopElement<U>, U: Repack, S: Shape>(
        self,
        mut product: impl for<'k> FnMut(&mut Accumulation<'_, T, U, T::Accumulator, S, B>, P::Tiles<'k>),
    ) -> Tile<T::Accumulator, S, Accumulators<B>> {
        // A first step of its own would replace undefined accumulators, but have the code of the copies twice.
        let mut accumulator = Accumulator::zero();
        let mut accumulation = Accumulation::new(&mut accumulator);
        self.for_each(|tiles| product(&mut accumulation, tiles));
        accumulation.finish();
        // The steps have committed their multiplications.
        accumulator.pin::<true>();
        accumulator.into_tile()
    }
}

/// The steps of a loop that runs.
struct Steps<'r, P, F, B, const STAGES: usize> {
    ring: &'r mut Ring<P, STAGES>,
    tiles: F,
    /// The number of steps.
    steps: u32,
    /// The steps that have begun.
    begun: u32,
    /// The steps whose copies have begun.
    copied: u32,
    /// The stage of the next step.
    next: Position,
    block: PhantomData<B>,
}

impl<'r, P, L, F, B, const STAGES: usize> Steps<'r, P, F, B, STAGES>
where
    P: StageLayout,
    L: CopyAhead<P>,
    F: FnMut(u32) -> L,
    B: Block,
{
    const STAGES: usize = Ring::<P, STAGES>::HERE;
    /// Whether the multiplications of a step go on during the next one, which takes a stage. A block of one warpgroup shares its
    /// multiprocessor, where others multiply while it waits: of three stages, it keeps two for copies.
    const LAGS: bool =
        P::BY_WARPGROUPS && Self::STAGES >= if <B::Threads as PowerOfTwo>::COUNT > WARPGROUP { 3 } else { 4 };
    /// How many steps ahead the copies are.
    const AHEAD: usize = if Self::LAGS { Self::STAGES - 2 } else { Self::STAGES - 1 };
    /// Whether one thread copies, by TMA.
    const BY_TMA: bool = L::BY_TMA && PRODUCER_WARP;

    /// Starts the first copies.
    #[inline_on_device]
    #[track_caller]
    fn begin(ahead: CopiedAhead<'r, P, F, B, STAGES>) -> Self {
        order::reveals_stage();
        let CopiedAhead { ring, steps, tiles, .. } = ahead;
        let mut this =
            Self { ring, tiles, steps, begun: 0, copied: 0, next: Position::FIRST, block: PhantomData };
        // SAFETY: tile operations run on all threads of the block alike (the execution model of `Cx`). Behind the first barrier, everybody
        // has read the stages and passed the barriers of an earlier loop. The memory of the barriers belongs to the ring. One arrival, that
        // of the copying thread, completes a phase, with its bytes.
        unsafe {
            if const { Self::BY_TMA } {
                barriers::fence_proxy_async();
            }
            barrier::<B>();
            if const { Self::BY_TMA } {
                if execution::thread() == 0 {
                    let mut slot = 0;
                    while slot < const { Self::STAGES as u32 } {
                        barriers::initialise(this.ring.full(slot), 1);
                        slot += 1;
                    }
                    barriers::fence_mbarrier_init();
                }
                barrier::<B>();
            }
        }
        let mut ahead = 0;
        // The code of the copies is there once for all of them.
        while ahead < execution::opaque(const { Self::AHEAD as u32 }) {
            this.copy(ahead);
            ahead += 1;
        }
        this
    }

    /// Whether all steps have begun.
    #[inline_on_device]
    fn are_done(&self) -> bool {
        self.begun == self.steps
    }

    /// Starts the next copies, which are `ahead` stages behind the next one, if a step is left to copy for. That stage is free.
    #[inline_on_device]
    #[track_caller]
    fn copy(&mut self, ahead: u32) {
        if self.copied < self.steps {
            let tiles = (self.tiles)(self.copied);
            self.copied += 1;
            let slot = self.next.slot + ahead;
            let slot = if slot < const { Self::STAGES as u32 } {
                slot
            } else {
                slot - const { Self::STAGES as u32 }
            };
            let stage = self.ring.stage(slot);
            // SAFETY: tile operations run on all threads of the block alike. Everybody has read the stage: behind the barrier of this step
            // all threads were done with the step that read it. Its barrier was initialised, and the phase before is complete.
            unsafe {
                if const { Self::BY_TMA } {
                    if execution::thread() == 0 {
                        barriers::arrive_expecting(self.ring.full(slot), tiles.bytes_by_tma::<B>());
                        tiles.copy_by_tma::<B>(stage, self.ring.full(slot));
                    }
                    // The assembler keeps addresses in uniform registers only where it knows that the warp is converged.
                    threads::warp_barrier();
                } else {
                    tiles.copy_by_threads::<B>(stage);
                }
            }
        }
        if const { !Self::BY_TMA } {
            // There is a group for each step, an empty one at the end: the group of a step is always as old when it is waited for.
            barriers::commit_copies();
        }
    }

    /// One step. `products` says whether multiplications of the step before are under way; returns whether this step's own are.
    #[inline_on_device]
    #[track_caller]
    fn step(&mut self, products: bool, mut step: impl for<'k> FnMut(P::Tiles<'k>)) -> bool {
        let Position { slot, round } = self.next;
        if const { Self::BY_TMA } {
            // SAFETY: the barrier was initialised, and a copy of this step announced.
            while !unsafe { barriers::try_wait(self.ring.full(slot), round) } {}
        } else {
            wait_until_under_way(const { Self::AHEAD - 1 });
            if const { P::BY_WARPGROUPS } {
                // Warpgroups read through another proxy than threads write (PTX ISA, "Async Proxy").
                barriers::fence_proxy_async();
            }
        }
        // SAFETY: tile operations run on all threads of the block alike. Behind the barrier, the copies of all threads have arrived, and
        // all threads are done with the stage that is filled next: with the step before, or with the one before that if its
        // multiplications lag.
        unsafe { barrier::<B>() };
        // A step that only starts its multiplications goes first, so that they run during the copies.
        if const { !P::BY_WARPGROUPS } {
            self.copy(const { Self::AHEAD as u32 });
        }
        let reads = Reads::of_step(const { Self::BY_TMA });
        // SAFETY: the tiles stay until the copies to their stage, which begin behind a later barrier.
        step(unsafe { P::tiles(self.ring.stage(slot), &reads) });
        self.begun += 1;
        let readers = reads.readers();
        if readers == Readers::Products {
            // SAFETY: as above.
            unsafe { warpgroup::commit() };
        }
        if const { P::BY_WARPGROUPS } {
            self.copy(const { Self::AHEAD as u32 });
        }
        self.next.advance(Self::STAGES);
        // SAFETY: as above. Groups retire in order.
        unsafe {
            match readers {
                Readers::Products | Readers::OwnGroups if const { !Self::LAGS } => {
                    warpgroup::wait::<0>();
                    false
                }
                // The multiplications of the step before have read their stage.
                Readers::Products => {
                    warpgroup::wait::<1>();
                    true
                }
                // The multiplications of the step before are done.
                Readers::OwnGroups => true,
                Readers::Nobody => {
                    if P::BY_WARPGROUPS && products {
                        warpgroup::wait::<0>();
                    }
                    false
                }
            }
        }
    }

    /// Waits for the last step's multiplications, and leaves the ring as it was found.
    #[inline_on_device]
    fn end(self, products: bool) {
        // SAFETY: tile operations run on all threads of the block alike. All copies have arrived: each was waited for. Behind the barrier,
        // no thread waits at the ring's barriers any more.
        unsafe {
            if P::BY_WARPGROUPS && products {
                warpgroup::wait::<0>();
            }
            if const { Self::BY_TMA } {
                barrier::<B>();
                if execution::thread() == 0 {
                    let mut slot = 0;
                    while slot < const { Self::STAGES as u32 } {
                        barriers::invalidate(self.ring.full(slot));
                        slot += 1;
                    }
                }
            }
        }
    }
}
