//! The k loop of a consumer.

use crate::arch::barriers::PRODUCER_WARP;
use crate::context::Cx;
use crate::element::Repack;
use crate::layout::{Accumulators, Block};
use crate::memory::shared_tile::StageLayout;
use crate::mma::accumulation::Accumulation;
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::KLoopElement;
use crate::pipeline::consumer::Consumer;
use crate::pipeline::producer::StageLoad;
use crate::shape::Shape;
use crate::tile::Tile;

/// The next messages of a [`Consumer`], to be lent one by one.
#[must_use = "messages are received by `each`"]
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
    /// Calls `step` with the stages of each message. Products that it puts under way run on while the next step begins; a
    /// stage is given back when the step after it has begun its own.
    ///
    /// # Panics
    /// If the feed has fewer messages (on the device: traps).
    #[inline(always)]
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

    /// The sums of the products that `product` puts under way in each step, as [`each`](Self::for_each) with an [`Accumulator`]; zero
    /// where there is no step. Faster than that where the GPU has no warpgroups: the tensor cores are busy with the end of a step
    /// while the factors of the next one are on their way to registers.
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
    ///     let feed = roles.tile_indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, feed, move |cx, mut consumer| {
    ///         for tile in c.schedule(cx, order) {
    ///             let acc = consumer.k_loop(steps).accumulate(cx, |acc, (a, b)| acc.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, acc);
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # Panics
    /// As [`each`](Self::for_each).
    #[inline(always)]
    #[track_caller]
    pub fn accumulate<T: KLoopElement<U>, U: Repack, S: Shape>(
        self,
        cx: Cx<B>,
        mut product: impl for<'k> FnMut(&mut Accumulation<'_, T, U, T::Accumulator, S, B>, P::Tiles<'k>),
    ) -> Tile<T::Accumulator, S, Accumulators<B>> {
        let mut accumulator = Accumulator::unset(cx);
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
        // The first step by itself, as no other one takes the place of what the accumulators hold.
        let mut previous = consumer.step(None, |stages| product(&mut accumulation, stages));
        while count != 1 {
            count -= 1;
            previous = consumer.step(previous, |stages| product(&mut accumulation, stages));
        }
        consumer.after_steps(previous);
        accumulator.pin::<true>();
        accumulator.into_tile()
    }
}
