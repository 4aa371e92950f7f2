//! Attention with heads of 64 columns, by warpgroups that take turns.

use core::iter::once;
use cuda_tiles::memory::{SharedTileRef, StageLayout};
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::{Consumer, InFlight, LoadTile, StageGuard, StageLoad};
use cuda_tiles::prelude::*;

use super::kernels::store_logarithms;
use super::softmax::OnlineSoftmax;
use super::visible::Visible;

/// The queries of a warpgroup: the rows of its multiplications.
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
/// A stage of keys or values that the consumer holds.
type Guard<'r, T> = StageGuard<'r, Keys<T>>;
/// A multiplication under way, whose result has a row for each query.
type Product<'r, T, B, const COLUMNS: usize> = InFlight<'r, f32, Shape2<ROWS, COLUMNS>, B, Keys<T>>;

/// [`attention`](super::kernels::attention) for heads of 64 columns: 192 queries at a time, of three blocks that share a producer.
///
/// With heads of 64, exponentials take as long as products: both at once is what counts. So the warpgroups take turns
/// ([`Consumer::in_turn`], FlashAttention-3, section 3.1): while one computes exponentials, the tensor cores have the products of
/// another. A warpgroup has 64 queries here. That leaves it registers for two products under way and the weights in 160, so that three
/// warpgroups fit beside a producer. The queries stay in shared memory.
///
/// It does not store the logarithms of sums, for which it has no registers.
///
/// All blocks see as many keys as the last of them. With few keys, causal attention therefore does more work that a mask then drops:
/// [`attention_in_pairs`] has fewer blocks.
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
    #[shared] queries: Ring<(Rows<T>, Rows<T>, Rows<T>), 2>,
    #[shared] ring: Ring<Keys<T>, STAGES>,
    #[shared] buffer: EpilogueBuffer<3>,
) where
    f32: Cast<T>,
{
    let visible = Visible::<ROWS, KEYS, CAUSAL>::new(o.rows(), k.rows());
    let operands = Operands { q, k, v, o, logarithms: None, scale, group };
    in_turns(roles, visible, operands, queries, ring, buffer);
}

/// [`attention_ping_pong`] of two blocks, 128 queries at a time, which also stores the logarithms of sums.
#[kernel(
    threads = 128,
    consumers = 2,
    producer = 128,
    min_blocks = 1,
    targets = warpgroups,
    instances(<f16, false>, <f16, true>, <bf16, false>, <bf16, true>)
)]
pub fn attention_in_pairs<B: Block, T: SharedMma<T, f32>, const CAUSAL: bool>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<ROWS, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    o: TmaStore<T, Shape2<ROWS, HEAD>>,
    logarithms: TmaStore<f32, Shape2<ROWS, 8>>,
    scale: f32,
    group: u32,
    #[shared] queries: Ring<(Rows<T>, Rows<T>), 2>,
    #[shared] ring: Ring<Keys<T>, STAGES>,
    #[shared] buffer: EpilogueBuffer<2>,
) where
    f32: Cast<T>,
{
    let visible = Visible::<ROWS, KEYS, CAUSAL>::new(o.rows(), k.rows());
    let operands = Operands { q, k, v, o, logarithms: Some(logarithms), scale, group };
    in_turns(roles, visible, operands, queries, ring, buffer);
}

/// The operands of the kernels.
struct Operands<T: Element> {
    q: TmaLoad<T, Shape2<ROWS, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    o: TmaStore<T, Shape2<ROWS, HEAD>>,
    /// Where the logarithms of the rows' sums go, if they are wanted.
    logarithms: Option<TmaStore<f32, Shape2<ROWS, 8>>>,
    scale: f32,
    group: u32,
}

/// The queries of all blocks that share a producer, a tile for each.
trait Queries<T: Element>: StageLayout {
    type Load: StageLoad<Self>;

    /// The load of neighbouring tiles, of which block 0 has `first`.
    fn load(q: TmaLoad<T, Shape2<ROWS, HEAD>>, first: [u32; 3]) -> Self::Load;

    /// The tile of block `own`.
    fn of_block<'s>(stage: &'s StageGuard<'_, Self>, own: u32) -> SharedTileRef<'s, T, Shape2<ROWS, HEAD>>;
}

impl<T: Element> Queries<T> for (Rows<T>, Rows<T>) {
    type Load = (LoadTile<T, Shape2<ROWS, HEAD>>, LoadTile<T, Shape2<ROWS, HEAD>>);

    #[inline_on_device]
    fn load(q: TmaLoad<T, Shape2<ROWS, HEAD>>, [batch, i, _]: [u32; 3]) -> Self::Load {
        (q.tile_of(batch, i, 0), q.tile_of(batch, i + 1, 0))
    }

    #[inline_on_device]
    fn of_block<'s>(stage: &'s StageGuard<'_, Self>, own: u32) -> SharedTileRef<'s, T, Shape2<ROWS, HEAD>> {
        let (first, second) = stage.tiles();
        if own == 0 { first } else { second }
    }
}

impl<T: Element> Queries<T> for (Rows<T>, Rows<T>, Rows<T>) {
    type Load =
        (LoadTile<T, Shape2<ROWS, HEAD>>, LoadTile<T, Shape2<ROWS, HEAD>>, LoadTile<T, Shape2<ROWS, HEAD>>);

    #[inline_on_device]
    fn load(q: TmaLoad<T, Shape2<ROWS, HEAD>>, [batch, i, _]: [u32; 3]) -> Self::Load {
        (q.tile_of(batch, i, 0), q.tile_of(batch, i + 1, 0), q.tile_of(batch, i + 2, 0))
    }

    #[inline_on_device]
    fn of_block<'s>(stage: &'s StageGuard<'_, Self>, own: u32) -> SharedTileRef<'s, T, Shape2<ROWS, HEAD>> {
        let (first, second, third) = stage.tiles();
        match own {
            0 => first,
            1 => second,
            _ => third,
        }
    }
}

/// The body of both kernels. `CONSUMERS` is the number of blocks that share keys and values.
#[inline_on_device]
fn in_turns<B: Block, T: SharedMma<T, f32>, Q: Queries<T>, const CONSUMERS: usize, const CAUSAL: bool>(
    roles: WarpRoles<B>,
    visible: Visible<ROWS, KEYS, CAUSAL>,
    operands: Operands<T>,
    queries: Ring<Q, 2>,
    ring: Ring<Keys<T>, STAGES>,
    mut buffer: EpilogueBuffer<CONSUMERS>,
) where
    f32: Cast<T>,
{
    let Operands { q, k, v, o, logarithms, scale, group } = operands;
    // The blocks of a CTA take the same steps, as many as the last of them needs.
    let blocks = move |first: u32| visible.blocks(first + const { CONSUMERS as u32 - 1 });
    let rows = roles.tile_indices(CausalBalanced, o.tile_counts());
    let loads = (rows.clone().map(move |first| Q::load(q, first)), loads(rows, blocks, group, k, v));
    roles.pipelines((queries, ring), loads, move |cx, (mut queries, mut consumer)| {
        let mut tiles = o.schedule(cx, CausalBalanced);
        let mut logarithms = logarithms.map(|logarithms| logarithms.schedule(cx, CausalBalanced));
        let own = cx.consumer();
        let last_block = move |i: u32| blocks(i - own) - 1;
        let Some(mut tile) = tiles.next() else { return };
        let mut query = queries.wait();
        let key = consumer.wait();
        let scores = start_scores(cx, &mut consumer, key, Q::of_block(&query, own));
        // The stage behind those in use: the next block of keys, or the last block of values.
        let mut ahead = consumer.wait();
        let scores = scores.finish(&mut consumer);
        let [_, mut i, _] = tile.index();
        let (mut softmax, weights) =
            OnlineSoftmax::<_, ROWS, KEYS>::first(visible.mask(scores, i, last_block(i)), scale);
        let mut weights = weights.cast::<T>();
        loop {
            let mut acc = cx.zero_accumulator::<f32>(shape![ROWS, HEAD]);
            // Outside of the loop: the choice among the blocks' tiles is branches.
            let own_query = Q::of_block(&query, own);
            for block in (0..last_block(i)).rev() {
                // The scores of this block, and beside them the output of the block before.
                let (scores, output, next) = start_both(cx, &mut consumer, ahead, own_query, acc, weights);
                ahead = next;
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
                let output = consumer.start(acc, ahead, |output, value| output.mma(weights, value));
                let output = output.finish(&mut consumer);
                store_logarithms(logarithms.as_mut().and_then(Iterator::next), &softmax);
                tile.store(&mut buffer, softmax.finish(output).cast());
                queries.release(query);
                return;
            };
            // The next tile's first scores, and beside them this tile's last output.
            let next_query = queries.wait();
            let (scores, output, behind) =
                start_both(cx, &mut consumer, ahead, Q::of_block(&next_query, own), acc, weights);
            ahead = behind;
            let scores = scores.finish(&mut consumer);
            let output = output.finish(&mut consumer);
            queries.release(query);
            query = next_query;
            store_logarithms(logarithms.as_mut().and_then(Iterator::next), &softmax);
            tile.store(&mut buffer, softmax.finish(output).cast());
            tile = next;
            [_, i, _] = tile.index();
            let (next_softmax, next_weights) =
                OnlineSoftmax::first(visible.mask(scores, i, last_block(i)), scale);
            (softmax, weights) = (next_softmax, next_weights.cast::<T>());
        }
    });
}

/// Starts `S = Q K'` with the keys of a stage.
#[inline_on_device]
fn start_scores<'r, T, F, B>(
    cx: Cx<B>,
    consumer: &mut Consumer<'r, Keys<T>, F, B, STAGES>,
    key: Guard<'r, T>,
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

/// Starts `S = Q K'` with a block of keys, and `O += P V` with the next block of values, in this block's turn. Returns the stage behind the
/// values, too: the wait for it takes no time while the tensor cores compute the scores.
#[inline_on_device]
fn start_both<'r, T, F, B>(
    cx: Cx<B>,
    consumer: &mut Consumer<'r, Keys<T>, F, B, STAGES>,
    key: Guard<'r, T>,
    query: SharedTileRef<'_, T, Shape2<ROWS, HEAD>>,
    output: Accumulator<f32, Shape2<ROWS, HEAD>, B>,
    weights: Tile<T, Shape2<ROWS, KEYS>, Accumulators<B>>,
) -> (Product<'r, T, B, KEYS>, Product<'r, T, B, HEAD>, Guard<'r, T>)
where
    T: SharedMma<T, f32>,
    F: Iterator<Item: StageLoad<Keys<T>>>,
    B: Block,
{
    consumer.in_turn(|consumer| {
        let scores = start_scores(cx, consumer, key, query);
        let (value, ahead) = (consumer.wait(), consumer.wait());
        let output = consumer.start(output, value, |output, value| output.mma(weights, value));
        (scores, output, ahead)
    })
}

/// The producer's loads of keys and values, in the order of the consumers' waits, for rows of tiles of all blocks. For each row, which
/// begins with tile `i` of `blocks(i)` blocks of keys: the last block of keys, the first block of values of the row before; then each
/// further block of keys, followed by the values of the block before.
#[inline_on_device]
fn loads<T: Element>(
    rows: impl Iterator<Item = [u32; 3]> + Send,
    blocks: impl Fn(u32) -> u32 + Copy + Send,
    group: u32,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
) -> impl Iterator<Item = LoadTile<T, Shape2<KEYS, HEAD>>> + Send {
    let mut before = None;
    rows.map(Some).chain(once(None)).flat_map(move |row| {
        let ([batch, i, _], numbers) = match row {
            Some(row) => (row, 1..2 * blocks(row[1]) + 1),
            // The last row leaves its values for the end.
            None => ([0; 3], 2..3),
        };
        let batch = batch / group.max(1);
        let (before, last) = (before.replace(batch), blocks(i) - 1);
        numbers.filter_map(move |number| match number {
            1 => Some(k.tile_of(batch, last, 0)),
            2 => before.map(|batch| v.tile_of(batch, 0, 0)),
            _ if number % 2 == 1 => Some(k.tile_of(batch, last - number / 2, 0)),
            _ => Some(v.tile_of(batch, last + 2 - number / 2, 0)),
        })
    })
}
