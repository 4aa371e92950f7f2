//! The gradients of queries.

use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::StageGuard;
use cuda_tiles::prelude::*;

use super::super::visible::Visible;
use super::{Keys, LN_2, Queries, Scores};

/// `dQ` for each matrix of queries, of `HEAD` columns, of the scores `scale / log2 e`; `group` matrices of queries in a row share the keys
/// of one. `statistics` are those of [`attention_statistics`](super::statistics::attention_statistics).
///
/// A block owns `QUERIES` queries, and walks over the keys that they see.
///
/// This kernel is for GPUs with warpgroups (compute capability 9.0), [`attention_query_gradients_by_warps`] for others.
#[kernel(
    threads = 256,
    producer = 128,
    min_blocks = 1,
    targets = warpgroups,
    instances(
        <f16, 128, 128, 64, false>, <f16, 128, 128, 64, true>, <f16, 128, 64, 128, false>, <f16, 128, 64, 128, true>,
        <bf16, 128, 128, 64, false>, <bf16, 128, 128, 64, true>, <bf16, 128, 64, 128, false>, <bf16, 128, 64, 128, true>,
    )
)]
pub fn attention_query_gradients<
    B: Block,
    T: SharedMma<T, f32>,
    const QUERIES: usize,
    const KEYS: usize,
    const HEAD: usize,
    const CAUSAL: bool,
>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dq: TmaStore<T, Shape2<QUERIES, HEAD>>,
    scale: f32,
    group: u32,
    #[shared] queries: Ring<Queries<T, QUERIES, HEAD>, 1>,
    #[shared] ring: Ring<Keys<T, KEYS, HEAD>, 3>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) where
    D<QUERIES>: Dimension,
    D<KEYS>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let operands = Operands { q, k, v, gradient, statistics, dq, scale, group };
    // With heads of 64 and a causal mask it is slower, by a tenth.
    let ahead = HEAD == 128 || !CAUSAL;
    operands.compute::<B, 3, CAUSAL>(roles, queries, ring, ahead, move |tile, sums| {
        tile.store(&mut buffer, sums)
    });
}

/// [`attention_query_gradients`] by warps, for GPUs without warpgroups.
#[kernel(
    threads = 128,
    producer = 64,
    targets = !warpgroups,
    // The CPU has the other kernel.
    cpu = false,
    instances(
        <f16, 64, 32, 64, false>, <f16, 64, 32, 64, true>, <f16, 64, 32, 128, false>, <f16, 64, 32, 128, true>,
        <bf16, 64, 32, 64, false>, <bf16, 64, 32, 64, true>, <bf16, 64, 32, 128, false>, <bf16, 64, 32, 128, true>,
    )
)]
pub fn attention_query_gradients_by_warps<
    B: Block,
    T: SharedMma<T, f32>,
    const QUERIES: usize,
    const KEYS: usize,
    const HEAD: usize,
    const CAUSAL: bool,
>(
    roles: WarpRoles<B>,
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dq: TmaStore<T, Shape2<QUERIES, HEAD>>,
    scale: f32,
    group: u32,
    #[shared] queries: Ring<Queries<T, QUERIES, HEAD>, 1>,
    #[shared] ring: Ring<Keys<T, KEYS, HEAD>, 2>,
) where
    D<QUERIES>: Dimension,
    D<KEYS>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let operands = Operands { q, k, v, gradient, statistics, dq, scale, group };
    operands.compute::<B, 2, CAUSAL>(roles, queries, ring, false, |tile, sums| tile.store_directly(sums));
}

/// The operands of both kernels.
struct Operands<T: Element, const QUERIES: usize, const KEYS: usize, const HEAD: usize>
where
    D<QUERIES>: Dimension,
    D<KEYS>: Dimension,
    D<HEAD>: Dimension,
{
    q: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    k: TmaLoad<T, Shape2<KEYS, HEAD>>,
    v: TmaLoad<T, Shape2<KEYS, HEAD>>,
    gradient: TmaLoad<T, Shape2<QUERIES, HEAD>>,
    statistics: TmaLoad<f32, Shape2<8, QUERIES>>,
    dq: TmaStore<T, Shape2<QUERIES, HEAD>>,
    scale: f32,
    group: u32,
}

impl<T: SharedMma<T, f32>, const QUERIES: usize, const KEYS: usize, const HEAD: usize>
    Operands<T, QUERIES, KEYS, HEAD>
where
    D<QUERIES>: Dimension,
    D<KEYS>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    /// The kernels' body. With `ahead`, the products of a step are started while that of the step before is under way. `store` stores a tile
    /// of gradients.
    #[inline_on_device]
    fn compute<B: Block, const STAGES: usize, const CAUSAL: bool>(
        self,
        roles: WarpRoles<B>,
        queries: Ring<Queries<T, QUERIES, HEAD>, 1>,
        ring: Ring<Keys<T, KEYS, HEAD>, STAGES>,
        ahead: bool,
        mut store: impl FnMut(
            StoreTile<T, Shape2<QUERIES, HEAD>>,
            Tile<T, Shape2<QUERIES, HEAD>, Accumulators<B>>,
        ) + 'static,
    ) {
        let Self { q, k, v, gradient, statistics, dq, scale, group } = self;
        let visible = Visible::<QUERIES, KEYS, CAUSAL>::new(q.rows(), k.rows());
        let tiles = roles.tile_indices(CausalBalanced, dq.tile_counts());
        let of_queries = tiles.clone().map(move |[matrix, i, _]| {
            (q.tile_of(matrix, i, 0), gradient.tile_of(matrix, i, 0), statistics.tile_of(matrix, 0, i))
        });
        let of_keys = tiles.flat_map(move |[matrix, i, _]| {
            let matrix = matrix / group.max(1);
            (0..visible.blocks(i)).map(move |j| (k.tile_of(matrix, j, 0), v.tile_of(matrix, j, 0)))
        });
        roles.pipelines((queries, ring), (of_queries, of_keys), move |cx, (mut queries, mut keys)| {
            for tile in dq.schedule(cx, CausalBalanced) {
                let [_, i, _] = tile.index();
                let own = queries.wait();
                let (query, gradient, statistics) = own.tiles();
                let row = |row| statistics.load_row_beside_rows(cx, row, shape![QUERIES, KEYS]);
                let (logarithms, statistic) = (row(0) * scale, row(1));
                let mut by_query = cx.zero_accumulator::<f32>(shape![QUERIES, HEAD]);
                let (mut j, end) = (0, visible.blocks(i));
                let mut stage = keys.wait();
                let (mut scores, mut by_weights) = products(cx, (query, gradient), &stage);
                loop {
                    if visible.hides(i, j) {
                        scores = visible.mask(scores, i, j);
                    }
                    let (key, _) = stage.tiles();
                    let weights = scores.fma(scale, logarithms).exp2_with(FlushToZero);
                    by_query.mma((weights * (by_weights + statistic)).cast::<T>(), key);
                    j += 1;
                    if j == end {
                        break;
                    }
                    if ahead {
                        let next = keys.wait();
                        (scores, by_weights) = products(cx, (query, gradient), &next);
                        keys.release(stage);
                        stage = next;
                    } else {
                        keys.release(stage);
                        stage = keys.wait();
                        (scores, by_weights) = products(cx, (query, gradient), &stage);
                    }
                }
                keys.release(stage);
                store(tile, (by_query.finish() * (scale * LN_2)).cast());
                queries.release(own);
            }
        });
    }
}

/// `S` and `dP` of a step.
#[inline_on_device]
fn products<B: Block, T: SharedMma<T, f32>, const QUERIES: usize, const KEYS: usize, const HEAD: usize>(
    cx: Cx<B>,
    (query, gradient): (
        SharedTileRef<'_, T, Shape2<QUERIES, HEAD>>,
        SharedTileRef<'_, T, Shape2<QUERIES, HEAD>>,
    ),
    stage: &StageGuard<'_, Keys<T, KEYS, HEAD>>,
) -> (Scores<B, QUERIES, KEYS>, Scores<B, QUERIES, KEYS>)
where
    D<QUERIES>: Dimension,
    D<KEYS>: Dimension,
    D<HEAD>: Dimension,
{
    let (key, value) = stage.tiles();
    let mut scores = cx.unset_accumulator::<f32>(shape![QUERIES, KEYS]);
    scores.mma(query, key.transposed());
    let mut by_weights = cx.unset_accumulator::<f32>(shape![QUERIES, KEYS]);
    by_weights.mma(gradient, value.transposed());
    (scores.finish(), by_weights.finish())
}
