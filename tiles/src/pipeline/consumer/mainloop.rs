//! The k loop of a consumer: one step for each stage.

use crate::arch::barriers::PRODUCER_WARP;
use crate::arch::order;
use crate::element::Repack;
use crate::layout::{Accumulators, Block};
use crate::memory::stage_layout::StageLayout;
use crate::mma::accumulation::{Accumulation, PromotedAccumulation};
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::KLoopElement;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::producer::StageLoad;
use crate::protocol::GUARDS_HELD;
use crate::shape::Shape;
use crate::tile::Tile;

impl<'r, P, F, B, const STAGES: usize> Consumer<'r, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    /// A loop over the next `count` stages.
    ///
    /// # Panics
    ///
    /// If the consumer still holds stages (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn k_loop(&mut self, count: u32) -> KLoop<'_, 'r, P, F, B, STAGES> {
        const {
            assert!(
                Self::STAGES >= 2,
                "a k loop needs a ring of at least 2 stages: one is filled while the other is read; with one stage, `wait` for it"
            )
        };
        order::reveals_stage();
        if self.held != 0 {
            self.fail("k_loop", GUARDS_HELD)
        }
        KLoop { consumer: self, count }
    }
}

/// A loop over the next stages of a [`Consumer`], from [`Consumer::k_loop`].
#[must_use = "a k loop runs by `accumulate` or `for_each`"]
pub struct KLoop<'s, 'r, P, F: Iterator, B, const STAGES: usize> {
    pub(super) consumer: &'s mut Consumer<'r, P, F, B, STAGES>,
    pub(super) count: u32,
}

impl<P, F, B, const STAGES: usize> KLoop<'_, '_, P, F, B, STAGES>
where
    P: StageLayout,
    F: Iterator<Item: StageLoad<P>>,
    B: Block,
{
    /// Calls `step` with the tiles of each stage.
    ///
    /// Multiplications that `step` starts go on while the next step begins. The library releases a stage after the next step
    /// has started its own multiplications.
    ///
    /// # Panics
    ///
    /// If the producer has fewer stages (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn for_each(self, mut step: impl for<'k> FnMut(P::Tiles<'k>)) {
        let consumer = self.consumer;
        let mut count = self.count;
        if !PRODUCER_WARP {
            consumer.each_by_threads(count, step);
            return;
        }
        let mut previous = None;
        while count != 0 {
            count -= 1;
            previous = consumer.step(previous, &mut step);
        }
        consumer.after_steps(previous);
    }

    /// The accumulators of the multiplications that `product` starts in each step; zero if there is no step.
    ///
    /// The type of the accumulators follows from the operands: see [`KLoopElement`]. On GPUs without warpgroups this is faster
    /// than [`for_each`](Self::for_each) with an [`Accumulator`]: the tensor cores finish a step while the next step's operands
    /// are on their way to registers.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// The scalar products of all rows of `a` with all rows of `b`.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn scalar_products(
    ///     roles: WarpRoles,
    ///     a: TmaLoad<f16, Shape2<64, 64>>,
    ///     b: TmaLoad<f16, Shape2<64, 64>>,
    ///     c: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<64, 64>>)>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let (order, steps) = (Grouped::<16>, a.tile_counts().1);
    ///     let loads = roles.tile_indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in c.schedule(cx, order) {
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, acc);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result lies in registers, in the layout [`Accumulators`]. The instruction is `wgmma.mma_async` (PTX ISA,
    /// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions") from compute capability 9.0 on, and `mma.sync` before.
    ///
    /// # Panics
    ///
    /// As [`for_each`](Self::for_each).
    #[inline_on_device]
    #[track_caller]
    pub fn accumulate<T: KLoopElement<U>, U: Repack, S: Shape>(
        self,
        mut product: impl for<'k> FnMut(&mut Accumulation<'_, T, U, T::Accumulator, S, B>, P::Tiles<'k>),
    ) -> Tile<T::Accumulator, S, Accumulators<B>> {
        let mut accumulator = Accumulator::unset();
        let mut accumulation = Accumulation::new(&mut accumulator);
        if !P::BY_WARPGROUPS {
            self.for_each(|stages| product(&mut accumulation, stages));
            accumulation.finish();
            return accumulator.finish();
        }
        let (consumer, mut count) = (self.consumer, self.count);
        if count == 0 {
            return accumulator.into_tile();
        }
        // The first step stands alone: it alone replaces the accumulators' contents instead of adding to them.
        let mut previous = consumer.step(None, |stages| product(&mut accumulation, stages));
        while count != 1 {
            count -= 1;
            previous = consumer.step(previous, |stages| product(&mut accumulation, stages));
        }
        consumer.after_steps(previous);
        accumulator.pin::<true>();
        accumulator.into_tile()
    }

    /// As [`accumulate`](Self::accumulate), with promoted accumulation: the accumulators have all the bits of their type, of products of
    /// 8-bit floats too. See [`Accumulator::mma_promoted`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// The scalar products of all rows of `a` with all rows of `b`.
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn scalar_products(
    ///     roles: WarpRoles,
    ///     a: TmaLoad<f8e4m3, Shape2<64, 128>>,
    ///     b: TmaLoad<f8e4m3, Shape2<64, 128>>,
    ///     c: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f8e4m3, Shape2<64, 128>>, SharedTile<f8e4m3, Shape2<64, 128>>)>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let (order, steps) = (Grouped::<16>, a.tile_counts().1);
    ///     let loads = roles.tile_indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in c.schedule(cx, order) {
    ///             let acc = consumer.k_loop(steps).accumulate_promoted(|acc, (a, b)| acc.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, acc);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// As [`for_each`](Self::for_each).
    #[inline_on_device]
    #[track_caller]
    pub fn accumulate_promoted<T: KLoopElement<U>, U: Repack, S: Shape>(
        self,
        mut product: impl for<'k> FnMut(&mut PromotedAccumulation<'_, T, U, T::Accumulator, S, B>, P::Tiles<'k>),
    ) -> Tile<T::Accumulator, S, Accumulators<B>> {
        let mut accumulator = Accumulator::zero();
        let mut accumulation = PromotedAccumulation::new(&mut accumulator);
        if const { !PromotedAccumulation::<'_, T, U, T::Accumulator, S, B>::LAGS } {
            self.for_each(|stages| product(&mut accumulation, stages));
            accumulation.finish();
            return accumulator.finish();
        }
        let (consumer, mut count, mut previous) = (self.consumer, self.count, None);
        // Products take turns with two sets of registers, so each turn is a step of its own.
        while count > 1 {
            count -= 2;
            previous = consumer.step(previous, |stages| product(&mut accumulation, stages));
            previous = consumer.step(previous, |stages| product(&mut accumulation, stages));
        }
        // Each way out has another set to add.
        if count == 0 {
            consumer.after_steps(previous);
            accumulation.finish();
        } else {
            previous = consumer.step(previous, |stages| product(&mut accumulation, stages));
            consumer.after_steps(previous);
            accumulation.finish();
        }
        accumulator.into_tile()
    }
}
