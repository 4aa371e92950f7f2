//! The two products of attention by warpgroups, which read the stages of one ring.

use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::{AUTOMATIC, Consumer, InFlight, StageGuard, StageLoad};
use cuda_tiles::prelude::*;

/// A stage of the ring: queries, keys or values.
type Stage<T, const SIDE: usize, const HEAD: usize> = SharedTile<T, Shape2<SIDE, HEAD>>;

/// A stage of the ring that the consumer holds.
type Guard<'r, T, const SIDE: usize, const HEAD: usize> = StageGuard<'r, Stage<T, SIDE, HEAD>>;

/// A multiplication under way, whose result has `COLUMNS` columns.
type Product<'r, T, B, const SIDE: usize, const HEAD: usize, const COLUMNS: usize> =
    InFlight<'r, f32, Shape2<SIDE, COLUMNS>, B, Stage<T, SIDE, HEAD>>;

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
    /// `Q`: a tile of queries in registers, from a stage; and the stage behind it.
    #[inline_on_device]
    pub(super) fn load_query(
        &mut self,
        stage: Guard<'r, T, SIDE, HEAD>,
    ) -> (Tile<T, Shape2<SIDE, HEAD>, Accumulators<B>>, Guard<'r, T, SIDE, HEAD>) {
        let query = stage.tiles().load_operand_a(self.cx);
        self.consumer.release(stage);
        (query, self.consumer.wait())
    }

    /// Starts `S = Q K'` with a block of keys.
    #[inline_on_device]
    pub(super) fn start_scores(
        &mut self,
        query: Tile<T, Shape2<SIDE, HEAD>, Accumulators<B>>,
        key: Guard<'r, T, SIDE, HEAD>,
    ) -> Product<'r, T, B, SIDE, HEAD, SIDE> {
        let scores = self.cx.unset_accumulator(shape![SIDE, SIDE]);
        self.consumer.start(scores, key, |scores, key| scores.mma(query, key.transposed()))
    }

    /// Starts `O += P V` with a block of values.
    #[inline_on_device]
    pub(super) fn start_output(
        &mut self,
        output: Accumulator<f32, Shape2<SIDE, HEAD>, B>,
        weights: Tile<T, Shape2<SIDE, SIDE>, Accumulators<B>>,
        value: Guard<'r, T, SIDE, HEAD>,
    ) -> Product<'r, T, B, SIDE, HEAD, HEAD> {
        self.consumer.start(output, value, |output, value| output.mma(weights, value))
    }

    /// Starts `S = Q K'` with a block of keys, and `O += P V` with the next block of values. Returns the stage behind the values, too.
    #[inline_on_device]
    pub(super) fn start_both(
        &mut self,
        query: Tile<T, Shape2<SIDE, HEAD>, Accumulators<B>>,
        key: Guard<'r, T, SIDE, HEAD>,
        output: Accumulator<f32, Shape2<SIDE, HEAD>, B>,
        weights: Tile<T, Shape2<SIDE, SIDE>, Accumulators<B>>,
    ) -> (Product<'r, T, B, SIDE, HEAD, SIDE>, Product<'r, T, B, SIDE, HEAD, HEAD>, Guard<'r, T, SIDE, HEAD>)
    {
        let scores = self.start_scores(query, key);
        let (value, ahead) = (self.consumer.wait(), self.consumer.wait());
        (scores, self.start_output(output, weights, value), ahead)
    }

    /// Waits for a product, and releases the stage that it read.
    #[inline_on_device]
    pub(super) fn finish<S: Shape>(
        &mut self,
        product: InFlight<'r, f32, S, B, Stage<T, SIDE, HEAD>>,
    ) -> Tile<f32, S, Accumulators<B>> {
        product.finish(&mut self.consumer)
    }
}
