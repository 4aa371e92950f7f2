//! Operands that stay in shared memory, in a ring of their own or in that of others, and rings with different numbers of steps.

use core::iter::once;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

/// `y = x w` for a matrix `w` of 64 x 64. `w` stays in shared memory; the rows of `x` go through a ring.
#[kernel(threads = 128, producer = 64, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn linear<T: KLoopElement<T, Accumulator = f32>>(
    roles: WarpRoles,
    x: TmaLoad<T, Shape2<64, 64>>,
    w: TmaLoad<T, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] weights: Ring<SharedTile<T, Shape2<64, 64>>, 1>,
    #[shared] rows: Ring<SharedTile<T, Shape2<64, 64>>, 3>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    let tiles =
        roles.tile_indices(RowMajor, y.tile_counts()).map(move |[batch, i, _]| x.tile_of(batch, i, 0));
    roles.pipelines((weights, rows), ([w.tile(0, 0)], tiles), move |cx, (mut weights, mut rows)| {
        let (mut buffer, tiles) = (buffer, y.schedule(cx, RowMajor));
        let w = weights.wait();
        for tile in tiles {
            tile.store(&mut buffer, rows.k_loop(1).accumulate(|acc, x| acc.mma(x, w.tiles())));
        }
        weights.release(w);
    });
}

/// `y = x w` for a matrix `w` of up to 64 columns, in one ring. `w` is loaded in the ring's first round, and stays if all its k steps have
/// stages.
#[kernel(threads = 128, producer = 32, instances(<f16>, <bf16>))]
pub fn linear_in_rounds<T: KLoopElement<T, Accumulator = f32>>(
    roles: WarpRoles,
    x: TmaLoad<T, Shape2<64, 64>>,
    w: TmaLoad<T, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] ring: Ring<(SharedTile<T, Shape2<64, 64>>, SharedTile<T, Shape2<64, 64>>), 5>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    let steps = x.tile_counts().1;
    let (ring, round) = ring.with_rounds_of(steps);
    let tiles = roles.tile_indices(RowMajor, y.tile_counts()).enumerate();
    let loads = tiles.flat_map(move |(number, [batch, i, _])| {
        let is_kept = round.is_some_and(|round| number as u32 >= round);
        // Nor need rows of `x` that are outside be loaded: a stage may have one of the operands, both or none.
        (0..steps).map(move |k| (x.tile_of(batch, i, k).unset_outside_rows(), w.tile(k, 0).kept(is_kept)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            tile.store(&mut buffer, consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w)));
        }
    });
}

/// As [`chained`](crate::pipelines::chained), with a ring each for queries, keys and values. A tile of queries stays in its ring for
/// a whole row of tiles.
#[kernel(threads = 128, producer = 96, min_blocks = 1, instances(<f16>, <bf16>))]
pub fn chained_by_rings<B: Block, T: KLoopElement<T, Accumulator = f32>>(
    roles: WarpRoles<B>,
    x: TmaLoad<T, Shape2<64, 32>>,
    y: TmaStore<f32, Shape2<64, 32>>,
    #[shared] queries: Ring<SharedTile<T, Shape2<64, 32>>, 1>,
    #[shared] keys: Ring<SharedTile<T, Shape2<64, 32>>, 2>,
    #[shared] values: Ring<SharedTile<T, Shape2<64, 32>>, 3>,
    #[shared] buffer: EpilogueBuffer<1>,
) where
    f32: Cast<T>,
{
    let blocks = x.tile_counts().0;
    let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    let of_queries = tiles.clone().flat_map(move |[batch, i, _]| once(x.tile_of(3 * batch, i, 0)));
    let of_keys = tiles
        .clone()
        .flat_map(move |[batch, ..]| (0..blocks).map(move |row| x.tile_of(3 * batch + 1, row, 0)));
    let of_values =
        tiles.flat_map(move |[batch, ..]| (0..blocks).map(move |row| x.tile_of(3 * batch + 2, row, 0)));
    let loads = (of_queries, of_keys, of_values);
    roles.pipelines((queries, keys, values), loads, move |cx, (mut queries, mut keys, mut values)| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            let query = queries.wait();
            let key = keys.wait();
            let scores = keys.start(cx.unset_accumulator::<f32>(shape![64, 64]), key, |scores, key| {
                scores.mma(query.tiles(), key.transposed());
            });
            let mut weights = scores.finish(&mut keys).cast::<T>();
            let mut acc = cx.zero_accumulator::<f32>(shape![64, 32]);
            for _ in 1..blocks {
                let value = values.wait();
                let product = values.start(acc, value, |acc, v| acc.mma(weights, v));
                let key = keys.wait();
                let scores = keys.start(cx.unset_accumulator::<f32>(shape![64, 64]), key, |scores, key| {
                    scores.mma(query.tiles(), key.transposed());
                });
                acc = Accumulator::from_tile(product.finish(&mut values));
                weights = scores.finish(&mut keys).cast();
            }
            queries.release(query);
            let value = values.wait();
            let product = values.start(acc, value, |acc, v| acc.mma(weights, v));
            tile.store(&mut buffer, product.finish(&mut values));
        }
    });
}
