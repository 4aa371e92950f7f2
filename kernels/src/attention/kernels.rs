//! The kernels of attention.

use core::iter::once;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::LoadTile;
use cuda_tiles::prelude::*;
use cuda_tiles::target::{TILES_IN_REGISTERS, WARPGROUPS};

/// A row's maximum is updated when it has grown by more than this power of two. Until then the weights of later keys exceed 1,
/// for which floats have room. Most steps then need not rescale the accumulators.
const SLACK: f32 = 8.0;
/// A finite number below all maxima. Rows whose first block of keys has no visible key begin with it.
const LOWEST: f32 = -1e30;

/// The visibility of keys.
#[derive(Clone, Copy)]
struct Visible<const SIDE: usize, const CAUSAL: bool> {
    keys: u32,
    /// The number of keys that the first query sees beyond its own.
    ahead: u32,
}

impl<const SIDE: usize, const CAUSAL: bool> Visible<SIDE, CAUSAL> {
    const SIDE: u32 = SIDE as u32;

    /// The number of blocks of keys that row `i` of tiles of queries sees.
    #[inline(always)]
    fn blocks(self, i: u32) -> u32 {
        let keys = if CAUSAL { self.keys.min((i + 1) * Self::SIDE + self.ahead) } else { self.keys };
        keys.div_ceil(Self::SIDE)
    }

    /// Whether some query of row `i` of tiles does not see all keys of a block.
    #[inline(always)]
    fn hides(self, i: u32, block: u32) -> bool {
        let end = (block + 1) * Self::SIDE;
        end > self.keys || (CAUSAL && end > i * Self::SIDE + self.ahead + 1)
    }

    /// The scores of row `i` of tiles and a block of keys, -∞ where a query does not see the key.
    #[inline(always)]
    fn mask<L: Layout>(
        self,
        scores: Tile<f32, Shape2<SIDE, SIDE>, L>,
        i: u32,
        block: u32,
    ) -> Tile<f32, Shape2<SIDE, SIDE>, L>
    where
        D<SIDE>: Dimension,
    {
        let key = scores.coordinates::<1>() + block * Self::SIDE;
        if CAUSAL {
            let query = scores.coordinates::<0>() + i * Self::SIDE;
            key.le(query + self.ahead).select(scores, f32::NEG_INFINITY)
        } else {
            key.lt(self.keys).select(scores, f32::NEG_INFINITY)
        }
    }
}

/// `o = softmax(q k' * scale / log2 e) v` for each matrix of a batch, of `HEAD` columns. Each row of `q` is a query. With
/// `CAUSAL` the last query sees all keys, and each query before it one key less.
///
/// There is at least one key and, with `CAUSAL`, no more queries than keys; `scale` is positive.
///
/// This kernel is for GPUs with warpgroups (compute capability 9.0). [`attention_by_warps`] is for others.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    instances(
        <f16, 128, 64, false>, <f16, 128, 64, true>, <f16, 128, 128, false>, <f16, 128, 128, true>,
        <bf16, 128, 64, false>, <bf16, 128, 64, true>, <bf16, 128, 128, false>, <bf16, 128, 128, true>,
    )
)]
pub fn attention<B: Block, T: SharedMma<T, f32>, const SIDE: usize, const HEAD: usize, const CAUSAL: bool>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<SIDE, HEAD>>,
    k: TmaLoad<T, Shape2<SIDE, HEAD>>,
    v: TmaLoad<T, Shape2<SIDE, HEAD>>,
    o: TmaStore<T, Shape2<SIDE, HEAD>>,
    scale: f32,
    #[shared] ring: Ring<SharedTile<T, Shape2<SIDE, HEAD>>>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    if !WARPGROUPS && TILES_IN_REGISTERS {
        panic!("attention: this GPU has no warpgroups; launch attention_by_warps");
    }
    let visible = Visible::<SIDE, CAUSAL> { keys: k.rows(), ahead: k.rows().saturating_sub(o.rows()) };
    let rows = roles.tile_indices(CausalBalanced, o.tile_counts());
    roles.pipeline(ring, loads(rows, visible, q, k, v), move |cx, mut consumer| {
        let mut buffer = buffer;
        let mut tiles = o.schedule(cx, CausalBalanced);
        let Some(mut tile) = tiles.next() else { return };
        let guard = consumer.wait();
        let mut query = guard.tiles().load_operand_a(cx);
        consumer.release(guard);
        let key = consumer.wait();
        let scores = consumer
            .start(cx.unset_accumulator::<f32>(shape![SIDE, SIDE]), key, |s, k| s.mma(query, k.transposed()))
            .finish(&mut consumer);
        let [_, mut i, _] = tile.index();
        let scores = visible.mask(scores, i, visible.blocks(i) - 1);
        let mut top = scores.max::<1>().maximum(LOWEST) * scale;
        let weights = scores.fma(scale, -top).exp2_with(FlushToZero);
        let mut sum = weights.sum::<1>();
        let mut probabilities = weights.cast::<T>();
        loop {
            let mut acc = cx.zero_accumulator::<f32>(shape![SIDE, HEAD]);
            for block in (0..visible.blocks(i) - 1).rev() {
                // The next scores are computed while the values are multiplied by the last weights.
                let key = consumer.wait();
                let scores = consumer.start(cx.unset_accumulator::<f32>(shape![SIDE, SIDE]), key, |s, k| {
                    s.mma(query, k.transposed())
                });
                let value = consumer.wait();
                let product = consumer.start(acc, value, |o, v| o.mma(probabilities, v));
                let mut scores = scores.finish(&mut consumer);
                if CAUSAL && visible.hides(i, block) {
                    scores = visible.mask(scores, i, block);
                }
                let highest = scores.max::<1>() * scale;
                let output = product.finish(&mut consumer);
                let next = highest.gt(top + SLACK).select(highest, top);
                let factor = (top - next).exp2_with(FlushToZero);
                let weights = scores.fma(scale, -next).exp2_with(FlushToZero);
                sum = sum * factor + weights.sum::<1>();
                top = next;
                probabilities = weights.cast::<T>();
                acc = Accumulator::from_tile(output.mul_unless_one(factor));
            }
            let Some(next) = tiles.next() else {
                let value = consumer.wait();
                let output = consumer.start(acc, value, |o, v| o.mma(probabilities, v)).finish(&mut consumer);
                tile.store(&mut buffer, (output * sum.reciprocal()).cast());
                return;
            };
            // So are the first scores of the next tile.
            let guard = consumer.wait();
            query = guard.tiles().load_operand_a(cx);
            consumer.release(guard);
            let key = consumer.wait();
            let scores = consumer.start(cx.unset_accumulator::<f32>(shape![SIDE, SIDE]), key, |s, k| {
                s.mma(query, k.transposed())
            });
            let value = consumer.wait();
            let product = consumer.start(acc, value, |o, v| o.mma(probabilities, v));
            let scores = scores.finish(&mut consumer);
            let output = product.finish(&mut consumer);
            tile.store(&mut buffer, (output * sum.reciprocal()).cast());
            [_, i, _] = next.index();
            let scores = visible.mask(scores, i, visible.blocks(i) - 1);
            top = scores.max::<1>().maximum(LOWEST) * scale;
            let weights = scores.fma(scale, -top).exp2_with(FlushToZero);
            sum = weights.sum::<1>();
            probabilities = weights.cast::<T>();
            tile = next;
        }
    });
}

/// [`attention`] by single warps, for GPUs without warpgroups: one block of keys after the other, each with its values.
#[kernel(
    threads = 32,
    producer = 32,
    instances(
        <f16, 16, 64, false>, <f16, 16, 64, true>, <f16, 16, 128, false>, <f16, 16, 128, true>,
        <bf16, 16, 64, false>, <bf16, 16, 64, true>, <bf16, 16, 128, false>, <bf16, 16, 128, true>,
    )
)]
pub fn attention_by_warps<
    B: Block,
    T: SharedMma<T, f32>,
    const SIDE: usize,
    const HEAD: usize,
    const CAUSAL: bool,
>(
    roles: WarpRoles<B>,
    q: Span<T, (u32, u32, u32)>,
    k: TmaLoad<T, Shape2<SIDE, HEAD>>,
    v: TmaLoad<T, Shape2<SIDE, HEAD>>,
    o: TmaStore<T, Shape2<SIDE, HEAD>>,
    scale: f32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<SIDE, HEAD>>, SharedTile<T, Shape2<SIDE, HEAD>>), 3>,
    #[shared] buffer: EpilogueBuffer<0>,
) where
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    if WARPGROUPS {
        panic!("attention_by_warps: this GPU has warpgroups; launch attention");
    }
    let visible = Visible::<SIDE, CAUSAL> { keys: k.rows(), ahead: k.rows().saturating_sub(o.rows()) };
    let loads = roles.tile_indices(RowMajor, o.tile_counts()).flat_map(move |[batch, i, _]| {
        (0..visible.blocks(i)).map(move |block| (k.tile_of(batch, block, 0), v.tile_of(batch, block, 0)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        let queries = q.partition(cx, shape![1, SIDE, HEAD]);
        for tile in o.schedule(cx, RowMajor) {
            let [batch, i, _] = tile.index();
            let query = queries.load_masked(Zero, (batch, i, 0)).reshape(shape![SIDE, HEAD]);
            // In the layout of operand A, which is that of accumulators.
            let query = Accumulator::from_tile(query).finish();
            let mut output = cx.zero_accumulator::<f32>(shape![SIDE, HEAD]).finish();
            let mut sum = output.sum::<1>();
            let (mut top, mut block) = (sum + LOWEST, 0);
            consumer.k_loop(visible.blocks(i)).for_each(|(key, value)| {
                let mut scores = cx.zero_accumulator::<f32>(shape![SIDE, SIDE]);
                scores.mma(query, key.transposed());
                let mut scores = scores.finish();
                if visible.hides(i, block) {
                    scores = visible.mask(scores, i, block);
                }
                let next = top.maximum(scores.max::<1>() * scale);
                let factor = (top - next).exp2_with(FlushToZero);
                let weights = scores.fma(scale, -next).exp2_with(FlushToZero);
                sum = sum * factor + weights.sum::<1>();
                let mut acc = Accumulator::from_tile(output * factor);
                acc.mma(weights.cast::<T>(), value);
                output = acc.finish();
                (top, block) = (next, block + 1);
            });
            tile.store(&mut buffer, (output * sum.reciprocal()).cast());
        }
    });
}

/// The producer's loads, in the order of the consumers' waits. For each tile of queries: the tile, its last block of keys, the
/// first block of values of the tile before; then each further block of keys, followed by the values of the block before.
#[inline(always)]
fn loads<T: Element, const SIDE: usize, const HEAD: usize, const CAUSAL: bool>(
    rows: impl Iterator<Item = [u32; 3]> + Send,
    visible: Visible<SIDE, CAUSAL>,
    q: TmaLoad<T, Shape2<SIDE, HEAD>>,
    k: TmaLoad<T, Shape2<SIDE, HEAD>>,
    v: TmaLoad<T, Shape2<SIDE, HEAD>>,
) -> impl Iterator<Item = LoadTile<T, Shape2<SIDE, HEAD>>> + Send
where
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
{
    let mut before = None;
    rows.map(Some).chain(once(None)).flat_map(move |row| {
        let ([batch, i, _], numbers) = match row {
            Some(row) => (row, 0..2 * visible.blocks(row[1]) + 1),
            // The last tile leaves its values for the end.
            None => ([0; 3], 2..3),
        };
        let (before, last) = (before.replace(batch), visible.blocks(i) - 1);
        numbers.filter_map(move |number| match number {
            0 => Some(q.tile_of(batch, i, 0)),
            1 => Some(k.tile_of(batch, last, 0)),
            2 => before.map(|batch| v.tile_of(batch, 0, 0)),
            _ if number % 2 == 1 => Some(k.tile_of(batch, last - number / 2, 0)),
            _ => Some(v.tile_of(batch, last + 2 - number / 2, 0)),
        })
    })
}
