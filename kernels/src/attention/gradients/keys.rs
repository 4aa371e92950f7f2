//! The gradients of keys and values.

use cuda_tiles::epilogue::StoreTile;
use cuda_tiles::memory::SharedTileRef;
use cuda_tiles::mma::SharedMma;
use cuda_tiles::pipeline::StageGuard;
use cuda_tiles::prelude::*;

use super::super::visible::Visible;
use super::{Keys, LN_2, Queries, Scores};

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
    // Heads of 128 have no registers for two steps. With heads of 64 and a causal mask it is slower, by a tenth.
    let ahead = HEAD < 128 && !CAUSAL;
    operands.compute::<B, 3, CAUSAL>(roles, keys, ring, ahead, move |tile, sums| {
        tile.store(&mut buffer, sums);
    });
}

/// [`attention_key_gradients`] by warps, for GPUs without warpgroups.
#[kernel(
    threads = 128,
    producer = 64,
    targets = !warpgroups,
    // The CPU has the other kernel.
    cpu = false,
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
    operands.compute::<B, 2, CAUSAL>(roles, keys, ring, false, |tile, sums| tile.store_directly(sums));
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
    /// The kernels' body. With `ahead`, the products of a step are started while those of the step before are under way. `store` stores a
    /// tile of gradients.
    #[inline_on_device]
    fn compute<B: Block, const STAGES: usize, const CAUSAL: bool>(
        self,
        roles: WarpRoles<B>,
        keys: Ring<Keys<T, KEYS, HEAD>, 1>,
        ring: Ring<Queries<T, QUERIES, HEAD>, STAGES>,
        ahead: bool,
        mut store: impl FnMut(StoreTile<T, Shape2<KEYS, HEAD>>, Tile<T, Shape2<KEYS, HEAD>, Accumulators<B>>)
        + 'static,
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
                let masked = |(scores, by_weights): (Scores<B, KEYS, QUERIES>, _), i| {
                    let hides = CAUSAL && visible.hides(i, j);
                    (if hides { visible.mask_transposed(scores, i, j) } else { scores }, by_weights)
                };
                let mut by_key = cx.zero_accumulator::<f32>(shape![KEYS, HEAD]);
                let mut by_value = cx.zero_accumulator::<f32>(shape![KEYS, HEAD]);
                if ahead {
                    let (mut i, mut rest) = (first, group * (end - first));
                    let mut stage = queries.wait();
                    let mut results = products(cx, (key, value), &stage);
                    loop {
                        add(&mut by_key, &mut by_value, &stage, masked(results, i), scale);
                        rest -= 1;
                        if rest == 0 {
                            break;
                        }
                        i = if i + 1 == end { first } else { i + 1 };
                        let next = queries.wait();
                        results = products(cx, (key, value), &next);
                        queries.release(stage);
                        stage = next;
                    }
                    queries.release(stage);
                } else {
                    for _ in 0..group {
                        for i in first..end {
                            let stage = queries.wait();
                            let results = masked(products(cx, (key, value), &stage), i);
                            add(&mut by_key, &mut by_value, &stage, results, scale);
                            queries.release(stage);
                        }
                    }
                }
                let (by_value, by_key) = (by_value.finish(), by_key.finish());
                // Its index would take registers in the loops above.
                if let Some(tile) = tiles_of_values.next() {
                    store(tile, by_value.cast());
                }
                store(tile, (by_key * (scale * LN_2)).cast());
                keys.release(own);
            }
        });
    }
}

/// `S' - L / scale` and `dP' - D` of a step.
#[inline_on_device]
fn products<B: Block, T: SharedMma<T, f32>, const KEYS: usize, const QUERIES: usize, const HEAD: usize>(
    cx: Cx<B>,
    (key, value): (SharedTileRef<'_, T, Shape2<KEYS, HEAD>>, SharedTileRef<'_, T, Shape2<KEYS, HEAD>>),
    stage: &StageGuard<'_, Queries<T, QUERIES, HEAD>>,
) -> (Scores<B, KEYS, QUERIES>, Scores<B, KEYS, QUERIES>)
where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
{
    let (query, gradient, statistics) = stage.tiles();
    // What is subtracted is there before the products: later it would take registers.
    let row = |row| statistics.load_row_beside_columns(cx, row, shape![KEYS, QUERIES]);
    let mut scores = Accumulator::from_broadcast(row(0), shape![KEYS, QUERIES]);
    let mut by_weights = Accumulator::from_broadcast(row(1), shape![KEYS, QUERIES]);
    scores.mma(key, query.transposed());
    by_weights.mma(value, gradient.transposed());
    (scores.finish(), by_weights.finish())
}

/// Adds a step, of which `results` are the [`products`], to the sums.
#[inline_on_device]
fn add<B: Block, T: SharedMma<T, f32>, const KEYS: usize, const QUERIES: usize, const HEAD: usize>(
    by_key: &mut Accumulator<f32, Shape2<KEYS, HEAD>, B>,
    by_value: &mut Accumulator<f32, Shape2<KEYS, HEAD>, B>,
    stage: &StageGuard<'_, Queries<T, QUERIES, HEAD>>,
    (scores, by_weights): (Scores<B, KEYS, QUERIES>, Scores<B, KEYS, QUERIES>),
    scale: f32,
) where
    D<KEYS>: Dimension,
    D<QUERIES>: Dimension,
    D<HEAD>: Dimension,
    f32: Cast<T>,
{
    let (query, gradient, _) = stage.tiles();
    let weights = (scores * scale).exp2_with(FlushToZero);
    by_value.mma(weights.cast::<T>(), gradient);
    by_key.mma((weights * by_weights).cast::<T>(), query);
}
