//! Attention with heads of 64 columns, by three warpgroups that take turns.

use core::iter::once;
use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::{Consumer, InFlight, LoadTile, StageGuard, StageLoad};
use cuda_tiles::prelude::*;

use super::softmax::OnlineSoftmax;
use super::visible::Visible;

/// The blocks that share keys and values.
const CONSUMERS: u32 = 3;
/// The queries of a block: the rows of a warpgroup's multiplications.
const ROWS: usize = 64;
/// The keys of a step.
const KEYS: usize = 128;
/// The columns of a head.
const HEAD: usize = 64;
/// The stages of keys and values.
const STAGES: usize = 6;

/// A tile of queries, and a tile of keys or values.
type Rows<T> = SharedTile<T, Shape2<ROWS, HEAD>>;
type Keys<T> = SharedTile<T, Shape2<KEYS, HEAD>>;
/// The queries of the three blocks.
type Queries<T> = (Rows<T>, Rows<T>, Rows<T>);
/// A multiplication under way, whose result has a row for each query.
type Product<'r, T, B, const COLUMNS: usize> = InFlight<'r, f32, Shape2<ROWS, COLUMNS>, B, Keys<T>>;

/// [`attention`](super::kernels::attention) for heads of 64 columns: 192 queries at a time, of three blocks that share a producer.
///
/// With heads of 64, exponentials take as long as products: both at once is what counts. So the warpgroups take turns
/// ([`Consumer::in_turn`], FlashAttention-3, section 3.1): while one computes exponentials, the tensor cores have the products of
/// another. A warpgroup has 64 queries here. That leaves it registers for two products under way and the weights in 160, so that three
/// warpgroups fit beside a producer. The queries stay in shared memory.
///
/// *Measured* on an H200 (driver 580.159.04) with `f16`, in TFLOP/s, beside cuDNN in the same run. The shape is that of queries: batch,
/// heads, rows, columns; there are as many keys.
///
/// | | this | cuDNN |
/// |---|---|---|
/// | (4, 32, 4096, 64) | 526 | 476 |
/// | (4, 32, 4096, 64), causal | 467 | 426 |
/// | (1, 32, 16384, 64) | 567 | 490 |
/// | (1, 32, 16384, 64), causal | 543 | 463 |
/// | (16, 32, 1024, 64) | 438 | 430 |
///
/// Without turns it has 0.94 of this at 4096 keys, and [`attention`](super::kernels::attention) has 0.90. With 1024 keys and causal it has
/// 0.86 of [`attention`](super::kernels::attention).
///
/// It does not store the logarithms of sums, for which it has no registers.
///
/// All blocks see as many keys as the last of them. With few keys, causal attention therefore does more work that a mask then drops.
#[kernel(
    threads = 128,
    consumers = 3,
    producer = 128,
    min_blocks = 1,
    targets = warpgroups,
    instances(<f16, false>, <f16, true>, <bf16, false>, <bf16, true>)
)]
pub fn attention_ping_pong<B: Block, T: SharedMma<T, f32>, const CAUSAL: bool>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<ROWS, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    o: TmaStore<T, Shape2<ROWS, HEAD>>,
    scale: f32,
    group: u32,
    #[shared] queries: Ring<Queries<T>, 2>,
    #[shared] ring: Ring<Keys<T>, STAGES>,
    #[shared] mut buffer: EpilogueBuffer<3>,
) where
    f32: Cast<T>,
{
    let visible = Visible::<ROWS, KEYS, CAUSAL>::new(o.rows(), k.rows());
    let rows = roles.tile_indices(CausalBalanced, o.tile_counts());
    let tiles_of = move |[batch, i, _]: [u32; 3]| {
        (q.tile_of(batch, i, 0), q.tile_of(batch, i + 1, 0), q.tile_of(batch, i + 2, 0))
    };
    let loads = (rows.clone().map(tiles_of), loads(rows, visible, group, k, v));
    roles.pipelines((queries, ring), loads, move |cx, (mut queries, mut consumer)| {
        let mut tiles = o.schedule(cx, CausalBalanced);
        let own = cx.consumer();
        // The blocks of a CTA take the same steps, as many as the last of them needs.
        let last_block = move |i: u32| visible.blocks(i - own + CONSUMERS - 1) - 1;
        let Some(mut tile) = tiles.next() else { return };
        let mut query = queries.wait();
        let key = consumer.wait();
        let scores = start_scores(cx, &mut consumer, key, own_query(&query, own));
        let scores = scores.finish(&mut consumer);
        let [_, mut i, _] = tile.index();
        let (mut softmax, weights) =
            OnlineSoftmax::<_, ROWS, KEYS>::first(visible.mask(scores, i, last_block(i)), scale);
        let mut weights = weights.cast::<T>();
        loop {
            let mut acc = cx.zero_accumulator::<f32>(shape![ROWS, HEAD]);
            for block in (0..last_block(i)).rev() {
                // The scores of this block, and beside them the output of the block before.
                let (scores, output) = start_both(cx, &mut consumer, own_query(&query, own), acc, weights);
                let mut scores = scores.finish(&mut consumer);
                if CAUSAL && visible.hides(i, block) {
                    scores = visible.mask(scores, i, block);
                }
                let highest = softmax.row_maximum(scores);
                // The exponentials wait for the output. Before it they would take a second set of weights, and the turns have filled the
                // tensor cores anyway: 0.95 of the speed.
                let output = output.finish(&mut consumer);
                let (next, factor) = softmax.update_lazily(scores, highest);
                weights = next.cast::<T>();
                acc = Accumulator::from_tile(output.mul_unless_one(factor));
            }
            let Some(next) = tiles.next() else {
                let value = consumer.wait();
                let output = consumer.start(acc, value, |output, value| output.mma(weights, value));
                let output = output.finish(&mut consumer);
                tile.store(&mut buffer, softmax.finish(output).cast());
                queries.release(query);
                return;
            };
            // The next tile's first scores, and beside them this tile's last output.
            let next_query = queries.wait();
            let (scores, output) = start_both(cx, &mut consumer, own_query(&next_query, own), acc, weights);
            let scores = scores.finish(&mut consumer);
            let output = output.finish(&mut consumer);
            queries.release(query);
            query = next_query;
            tile.store(&mut buffer, softmax.finish(output).cast());
            tile = next;
            [_, i, _] = tile.index();
            let (next_softmax, next_weights) =
                OnlineSoftmax::first(visible.mask(scores, i, last_block(i)), scale);
            (softmax, weights) = (next_softmax, next_weights.cast::<T>());
        }
    });
}

/// The queries of block `own`.
#[inline(always)]
fn own_query<'s, T: Element>(
    stage: &'s StageGuard<'_, Queries<T>>,
    own: u32,
) -> SharedTileRef<'s, T, Shape2<ROWS, HEAD>> {
    let (first, second, third) = stage.tiles();
    match own {
        0 => first,
        1 => second,
        _ => third,
    }
}

/// Starts `S = Q K'` with the keys of a stage.
#[inline(always)]
fn start_scores<'r, T, F, B>(
    cx: Cx<B>,
    consumer: &mut Consumer<'r, Keys<T>, F, B, STAGES>,
    key: StageGuard<'r, Keys<T>>,
    query: SharedTileRef<'_, T, Shape2<ROWS, HEAD>>,
) -> Product<'r, T, B, KEYS>
where
    T: SharedMma<T, f32>,
    F: Iterator<Item: StageLoad<Keys<T>>>,
    B: Block,
{
    let scores = cx.unset_accumulator(shape![ROWS, KEYS]);
    consumer.start(scores, key, |scores, key| scores.mma(query, key.transposed()))
}

/// Starts `S = Q K'` with the next block of keys, and `O += P V` with the next block of values, in this block's turn.
#[inline(always)]
fn start_both<'r, T, F, B>(
    cx: Cx<B>,
    consumer: &mut Consumer<'r, Keys<T>, F, B, STAGES>,
    query: SharedTileRef<'_, T, Shape2<ROWS, HEAD>>,
    output: Accumulator<f32, Shape2<ROWS, HEAD>, B>,
    weights: Tile<T, Shape2<ROWS, KEYS>, Accumulators<B>>,
) -> (Product<'r, T, B, KEYS>, Product<'r, T, B, HEAD>)
where
    T: SharedMma<T, f32>,
    F: Iterator<Item: StageLoad<Keys<T>>>,
    B: Block,
{
    let key = consumer.wait();
    consumer.in_turn(|consumer| {
        let scores = start_scores(cx, consumer, key, query);
        let value = consumer.wait();
        let output = consumer.start(output, value, |output, value| output.mma(weights, value));
        (scores, output)
    })
}

/// The producer's loads of keys and values, in the order of the consumers' waits, for rows of tiles of three blocks. For each row: the
/// last block of keys, the first block of values of the row before; then each further block of keys, followed by the values of
/// the block before.
#[inline(always)]
fn loads<T: Element, const CAUSAL: bool>(
    rows: impl Iterator<Item = [u32; 3]> + Send,
    visible: Visible<ROWS, KEYS, CAUSAL>,
    group: u32,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
) -> impl Iterator<Item = LoadTile<T, Shape2<KEYS, HEAD>>> + Send {
    let mut before = None;
    rows.map(Some).chain(once(None)).flat_map(move |row| {
        let ([batch, i, _], numbers) = match row {
            Some(row) => (row, 1..2 * visible.blocks(row[1] + CONSUMERS - 1) + 1),
            // The last row leaves its values for the end.
            None => ([0; 3], 2..3),
        };
        let batch = batch / group.max(1);
        let (before, last) = (before.replace(batch), visible.blocks(i + CONSUMERS - 1) - 1);
        numbers.filter_map(move |number| match number {
            1 => Some(k.tile_of(batch, last, 0)),
            2 => before.map(|batch| v.tile_of(batch, 0, 0)),
            _ if number % 2 == 1 => Some(k.tile_of(batch, last - number / 2, 0)),
            _ => Some(v.tile_of(batch, last + 2 - number / 2, 0)),
        })
    })
}
