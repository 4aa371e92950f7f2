//! The gradients of keys and values.

use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::prelude::*;

use super::super::visible::Visible;
use super::{Keys, LN_2, Queries};

/// `dK` and `dV` for each matrix of keys, of `HEAD` columns, of the scores `scale / log2 e`; `group` matrices of queries in a row share the
/// keys of one, and the gradients are sums over all of them. `statistics` are those of
/// [`attention_statistics`](super::statistics::attention_statistics).
///
/// A block owns `KEYS` keys, and walks over the queries that see them. Scores are transposed, `S' = K Q'`: weights are then operand A of the
/// sums, in the registers that computed them.
///
/// This kernel is for GPUs with warpgroups (compute capability 9.0), [`attention_key_gradients_by_warps`] for others.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    targets = warpgroups,
    instances(
        <f16, 128, 64, 64, false>, <f16, 128, 64, 64, true>, <f16, 128, 64, 128, false>, <f16, 128, 64, 128, true>,
        <bf16, 128, 64, 64, false>, <bf16, 128, 64, 64, true>, <bf16, 128, 64, 128, false>, <bf16, 128, 64, 128, true>,
    )
)]
pub fn attention_key_gradients<
    B: Block,
    T: SharedMma<T, f32>,
    const KEYS: usize,
    const QUERIES: usize,
    const HEAD: usize,
    const CAUSAL: bool,
>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dk: TmaStore<T, Shape2<KEYS, HEAD>>,
    dv: TmaStore<T, Shape2<KEYS, HEAD>>,
    scale: f32,
    group: u32,
    #[shared] keys: Ring<Keys<T, KEYS, HEAD>, 1>,
    #[shared] ring: Ring<Queries<T, QUERIES, HEAD>, 3>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let operands = Operands { q, k, v, gradient, statistics, dk, dv, scale, group };
    operands.compute::<B, 3, CAUSAL>(roles, keys, ring, move |tile, sums| tile.store(&mut buffer, sums));
}

/// [`attention_key_gradients`] by warps, for GPUs without warpgroups.
#[kernel(
    threads = 128,
    producer = 64,
    targets = !warpgroups,
    instances(
        <f16, 64, 32, 64, false>, <f16, 64, 32, 64, true>, <f16, 64, 16, 128, false>, <f16, 64, 16, 128, true>,
        <bf16, 64, 32, 64, false>, <bf16, 64, 32, 64, true>, <bf16, 64, 16, 128, false>, <bf16, 64, 16, 128, true>,
    )
)]
pub fn attention_key_gradients_by_warps<
    B: Block,
    T: SharedMma<T, f32>,
    const KEYS: usize,
    const QUERIES: usize,
    const HEAD: usize,
    const CAUSAL: bool,
>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dk: TmaStore<T, Shape2<KEYS, HEAD>>,
    dv: TmaStore<T, Shape2<KEYS, HEAD>>,
    scale: f32,
    group: u32,
    #[shared] keys: Ring<Keys<T, KEYS, HEAD>, 1>,
    #[shared] ring: Ring<Queries<T, QUERIES, HEAD>, 2>,
) where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let operands = Operands { q, k, v, gradient, statistics, dk, dv, scale, group };
    operands.compute::<B, 2, CAUSAL>(roles, keys, ring, |tile, sums| tile.store_directly(sums));
}

/// The operands of both kernels.
struct Operands<T: Element, const KEYS: usize, const QUERIES: usize, const HEAD: usize>
where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
{
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dk: TmaStore<T, Shape2<KEYS, HEAD>>,
    dv: TmaStore<T, Shape2<KEYS, HEAD>>,
    scale: f32,
    group: u32,
}

impl<T: SharedMma<T, f32>, const KEYS: usize, const QUERIES: usize, const HEAD: usize>
    Operands<T, KEYS, QUERIES, HEAD>
where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    /// The kernels' body. `store` stores a tile of gradients.
    #[inline(always)]
    fn compute<B: Block, const STAGES: usize, const CAUSAL: bool>(
        self,
        roles: WarpRoles<B>,
        keys: Ring<Keys<T, KEYS, HEAD>, 1>,
        ring: Ring<Queries<T, QUERIES, HEAD>, STAGES>,
        mut store: impl FnMut(StoreTile<T, Shape2<KEYS, HEAD>>, Tile<T, Shape2<KEYS, HEAD>, Accumulators<B>>) + 'static,
    ) {
        let Self { q, k, v, gradient, statistics, dk, dv, scale, group } = self;
        let visible = Visible::<QUERIES, KEYS, CAUSAL>::new(q.rows(), k.rows());
        let tiles = roles.tile_indices(CausalBalanced, dk.tile_counts());
        let of_keys =
            tiles.clone().map(move |[matrix, j, _]| (k.tile_of(matrix, j, 0), v.tile_of(matrix, j, 0)));
        let of_queries = tiles.flat_map(move |[matrix, j, _]| {
            let (first, end) = visible.tiles_that_see(j);
            let count = end - first;
            (0..group * count).map(move |number| {
                let (matrix, i) = (matrix * group + number / count, first + number % count);
                (q.tile_of(matrix, i, 0), gradient.tile_of(matrix, i, 0), statistics.tile_of(matrix, 0, i))
            })
        });
        roles.pipelines((keys, ring), (of_keys, of_queries), move |cx, (mut keys, mut queries)| {
            let (tiles, mut tiles_of_values) =
                (dk.schedule(cx, CausalBalanced), dv.schedule(cx, CausalBalanced));
            for tile in tiles {
                let [_, j, _] = tile.index();
                let (first, end) = visible.tiles_that_see(j);
                let own = keys.wait();
                let (key, value) = own.tiles();
                let mut by_key = cx.zero_accumulator::<f32>(shape![KEYS, HEAD]);
                let mut by_value = cx.zero_accumulator::<f32>(shape![KEYS, HEAD]);
                for _ in 0..group {
                    for i in first..end {
                        let stage = queries.wait();
                        let (query, gradient, statistics) = stage.tiles();
                        // What is subtracted from scores and from `dP` is there before the products: later it would take registers.
                        let row = |row| statistics.load_row_beside_columns(cx, row, shape![KEYS, QUERIES]);
                        let mut scores = Accumulator::from_broadcast(row(0), shape![KEYS, QUERIES]);
                        let mut by_weights = Accumulator::from_broadcast(row(1), shape![KEYS, QUERIES]);
                        scores.mma(key, query.transposed());
                        by_weights.mma(value, gradient.transposed());
                        let (mut scores, by_weights) = (scores.finish(), by_weights.finish());
                        if CAUSAL && visible.hides(i, j) {
                            scores = visible.mask_transposed(scores, i, j);
                        }
                        let weights = (scores * scale).exp2_with(FlushToZero);
                        by_value.mma(weights.cast::<T>(), gradient);
                        by_key.mma((weights * by_weights).cast::<T>(), query);
                        queries.release(stage);
                    }
                }
                let (by_value, by_key) = (by_value.finish(), by_key.finish());
                // Its index would take registers in the loop above.
                if let Some(tile) = tiles_of_values.next() {
                    store(tile, by_value.cast());
                }
                store(tile, (by_key * (scale * LN_2)).cast());
                keys.release(own);
            }
        });
    }
}
