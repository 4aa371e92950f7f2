//! The kernels of attention.

use core::iter::once;
use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::LoadTile;
use cuda_tiles::prelude::*;

use super::products::Products;
use super::softmax::OnlineSoftmax;
use super::visible::Visible;

/// `o = softmax(q k' * scale / log2 e) v` for each matrix of a batch, of `HEAD` columns. Each row of `q` is a query. With
/// `CAUSAL` the last query sees all keys, and each query before it one key less. `group` matrices of queries in a row share the keys and
/// values of one matrix.
///
/// `logarithms` has one column, and gets the logarithm of each row's sum of exponentials, for the [`gradients`](super::gradients). Without
/// elements it gets nothing.
///
/// There is at least one key and, with `CAUSAL`, no more queries than keys; `scale` is positive.
///
/// The main loop is the pipeline of two stages within a warpgroup of FlashAttention-3 (J. Shah, G. Bikshandi, Y. Zhang, V. Thakkar,
/// P. Ramani, T. Dao, "FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision", 2024, algorithm 2): the
/// scores `S = Q K'` of a block of keys do not depend on the output `O += P V` of the block before, so both products are under way
/// at once. Here the blocks go from the last to the first, and the first scores of a tile of queries are computed beside the last
/// output of the tile before.
///
/// This kernel is for GPUs with warpgroups (compute capability 9.0). [`attention_by_warps`] is for others, and
/// [`attention_ping_pong`](super::ping_pong::attention_ping_pong) for heads of 64.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    targets = warpgroups,
    instances(
        <f16, 128, 128, false>, <f16, 128, 128, true>, <bf16, 128, 128, false>, <bf16, 128, 128, true>,
    )
)]
pub fn attention<B: Block, T: SharedMma<T, f32>, const SIDE: usize, const HEAD: usize, const CAUSAL: bool>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<SIDE, HEAD>>,
    k: TmaLoad<T, Shape2<SIDE, HEAD>>,
    v: TmaLoad<T, Shape2<SIDE, HEAD>>,
    o: TmaStore<T, Shape2<SIDE, HEAD>>,
    logarithms: TmaStore<f32, Shape2<SIDE, 8>>,
    scale: f32,
    group: u32,
    #[shared] ring: Ring<SharedTile<T, Shape2<SIDE, HEAD>>>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) where
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let visible = Visible::<SIDE, SIDE, CAUSAL>::new(o.rows(), k.rows());
    let rows = roles.tile_indices(CausalBalanced, o.tile_counts());
    roles.pipeline(ring, loads(rows, visible, group, q, k, v), move |cx, consumer| {
        let mut products = Products { cx, consumer };
        let (mut tiles, mut logarithms) =
            (o.schedule(cx, CausalBalanced), logarithms.schedule(cx, CausalBalanced));
        let Some(mut tile) = tiles.next() else { return };
        let stage = products.consumer.wait();
        let (mut query, key) = products.load_query(stage);
        let scores = products.start_scores(query, key);
        // The stage behind those in use.
        let mut ahead = products.consumer.wait();
        let scores = products.finish(scores);
        let [_, mut i, _] = tile.index();
        let (mut softmax, weights) =
            OnlineSoftmax::<_, SIDE, SIDE>::first(visible.mask_last(scores, i), scale);
        let mut weights = weights.cast::<T>();
        loop {
            let mut acc = cx.zero_accumulator::<f32>(shape![SIDE, HEAD]);
            for block in (0..visible.blocks(i) - 1).rev() {
                // The scores of this block, and beside them the output of the block before.
                let (scores, output, next) = products.start_both(query, ahead, acc, weights);
                ahead = next;
                let mut scores = products.finish(scores);
                if CAUSAL && visible.hides(i, block) {
                    scores = visible.mask(scores, i, block);
                }
                // The maxima need the scores alone. The exponentials wait for the output: until then its product reads the last
                // weights from registers, and both sets of weights would be live.
                let highest = softmax.row_maximum(scores);
                let output = products.finish(output);
                let (next, factor) = softmax.update_lazily(scores, highest);
                weights = next.cast::<T>();
                acc = Accumulator::from_tile(output.mul_unless_one(factor));
            }
            let Some(next) = tiles.next() else {
                let output = products.start_output(acc, weights, ahead);
                let output = products.finish(output);
                store_logarithms(logarithms.next(), &softmax);
                tile.store(&mut buffer, softmax.finish(output).cast());
                return;
            };
            // The next tile's first scores, and beside them this tile's last output.
            let (next_query, key) = products.load_query(ahead);
            query = next_query;
            let (scores, output, behind) = products.start_both(query, key, acc, weights);
            ahead = behind;
            let scores = products.finish(scores);
            let output = products.finish(output);
            store_logarithms(logarithms.next(), &softmax);
            tile.store(&mut buffer, softmax.finish(output).cast());
            tile = next;
            [_, i, _] = tile.index();
            let (next_softmax, next_weights) = OnlineSoftmax::first(visible.mask_last(scores, i), scale);
            (softmax, weights) = (next_softmax, next_weights.cast::<T>());
        }
    });
}

/// [`attention`] by single warps, for GPUs without warpgroups: one block of keys after the other, each with its values.
#[kernel(
    threads = 32,
    producer = 32,
    targets = !warpgroups,
    // The CPU has the other kernel.
    cpu = false,
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
    logarithms: TmaStore<f32, Shape2<SIDE, 8>>,
    scale: f32,
    group: u32,
    #[shared] ring: Ring<(SharedTile<T, Shape2<SIDE, HEAD>>, SharedTile<T, Shape2<SIDE, HEAD>>), 3>,
) where
    D<SIDE>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let visible = Visible::<SIDE, SIDE, CAUSAL>::new(o.rows(), k.rows());
    let loads = roles.tile_indices(RowMajor, o.tile_counts()).flat_map(move |[batch, i, _]| {
        let batch = batch / group.max(1);
        (0..visible.blocks(i)).map(move |block| (k.tile_of(batch, block, 0), v.tile_of(batch, block, 0)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let queries = q.partition(cx, shape![1, SIDE, HEAD]);
        let (tiles, mut logarithms) = (o.schedule(cx, RowMajor), logarithms.schedule(cx, RowMajor));
        for tile in tiles {
            let [batch, i, _] = tile.index();
            let query = queries.load_masked(Zero, (batch, i, 0)).reshape(shape![SIDE, HEAD]);
            // In the layout of operand A, which is that of accumulators.
            let query = Accumulator::from_tile(query).finish();
            let mut output = cx.zero_accumulator::<f32>(shape![SIDE, HEAD]).finish();
            let (mut softmax, mut block) = (OnlineSoftmax::<_, SIDE, SIDE>::empty(cx, scale), 0);
            consumer.k_loop(visible.blocks(i)).for_each(|(key, value)| {
                let mut scores = cx.zero_accumulator::<f32>(shape![SIDE, SIDE]);
                scores.mma(query, key.transposed());
                let mut scores = scores.finish();
                if visible.hides(i, block) {
                    scores = visible.mask(scores, i, block);
                }
                let highest = softmax.row_maximum(scores);
                let (weights, factor) = softmax.update(scores, highest);
                let mut acc = Accumulator::from_tile(output * factor);
                acc.mma(weights.cast::<T>(), value);
                output = acc.finish();
                block += 1;
            });
            store_logarithms(logarithms.next(), &softmax);
            tile.store_directly(softmax.finish(output).cast());
        }
    });
}

/// Stores the logarithms of the sums of a tile of queries, if they are wanted.
#[inline_on_device]
pub(super) fn store_logarithms<B: Block, const ROWS: usize, const KEYS: usize>(
    tile: Option<StoreTile<f32, Shape2<ROWS, 8>>>,
    softmax: &OnlineSoftmax<B, ROWS, KEYS>,
) where
    D<ROWS>: Dimension,
    D<KEYS>: Dimension,
{
    if let Some(tile) = tile {
        tile.store_directly(softmax.logarithms());
    }
}

/// The producer's loads, in the order of the consumers' waits. For each tile of queries: the tile, its last block of keys, the
/// first block of values of the tile before; then each further block of keys, followed by the values of the block before.
#[inline_on_device]
fn loads<T: Element, const SIDE: usize, const HEAD: usize, const CAUSAL: bool>(
    rows: impl Iterator<Item = [u32; 3]> + Send,
    visible: Visible<SIDE, SIDE, CAUSAL>,
    group: u32,
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
        let keys = batch / group.max(1);
        let (before, last) = (before.replace(keys), visible.blocks(i) - 1);
        numbers.filter_map(move |number| match number {
            0 => Some(q.tile_of(batch, i, 0)),
            1 => Some(k.tile_of(keys, last, 0)),
            2 => before.map(|batch| v.tile_of(batch, 0, 0)),
            _ if number % 2 == 1 => Some(k.tile_of(keys, last - number / 2, 0)),
            _ => Some(v.tile_of(keys, last + 2 - number / 2, 0)),
        })
    })
}
