//! The two products of attention by warpgroups, which read the stages of one ring.

use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::{AUTOMATIC, Consumer, InFlight, StageLoad};
use cuda_tiles::prelude::*;

/// A stage of the ring: queries, keys or values.
type Stage<T, const SIDE: usize, const HEAD: usize> = SharedTile<T, Shape2<SIDE, HEAD>>;

/// The consumer of queries, keys and values. Each call takes the ring's next stage.
pub(super) struct Products<'r, T, F, B, const SIDE: usize, const HEAD: usize>
where
    T: Element,
    F: Iterator,
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
{
    pub(super) cx: Cx<B>,
    pub(super) consumer: Consumer<'r, Stage<T, SIDE, HEAD>, F, B, AUTOMATIC>,
}

impl<'r, T, F, B, const SIDE: usize, const HEAD: usize> Products<'r, T, F, B, SIDE, HEAD>
where
    T: SharedMma<T, f32>,
    F: Iterator<Item: StageLoad<Stage<T, SIDE, HEAD>>>,
    B: Block,
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
{
    /// `Q`: a tile of queries in registers.
    #[inline(always)]
    pub(super) fn load_query(&mut self) -> Tile<T, Shape2<SIDE, HEAD>, Accumulators<B>> {
        let guard = self.consumer.wait();
        let query = guard.tiles().load_operand_a(self.cx);
        self.consumer.release(guard);
        query
    }

    /// Starts `S = Q K'` with a block of keys.
    #[inline(always)]
    pub(super) fn start_scores(
        &mut self,
        query: Tile<T, Shape2<SIDE, HEAD>, Accumulators<B>>,
    ) -> InFlight<'r, f32, Shape2<SIDE, SIDE>, B, Stage<T, SIDE, HEAD>> {
        let key = self.consumer.wait();
        let scores = self.cx.unset_accumulator(shape![SIDE, SIDE]);
        self.consumer.start(scores, key, |scores, key| scores.mma(query, key.transposed()))
    }

    /// Starts `O += P V` with a block of values.
    #[inline(always)]
    pub(super) fn start_output(
        &mut self,
        output: Accumulator<f32, Shape2<SIDE, HEAD>, B>,
        weights: Tile<T, Shape2<SIDE, SIDE>, Accumulators<B>>,
    ) -> InFlight<'r, f32, Shape2<SIDE, HEAD>, B, Stage<T, SIDE, HEAD>> {
        let value = self.consumer.wait();
        self.consumer.start(output, value, |output, value| output.mma(weights, value))
    }

    /// Waits for a product, and releases the stage that it read.
    #[inline(always)]
    pub(super) fn finish<S: Shape>(
        &mut self,
        product: InFlight<'r, f32, S, B, Stage<T, SIDE, HEAD>>,
    ) -> Tile<f32, S, Accumulators<B>> {
        product.finish(&mut self.consumer)
    }
}
