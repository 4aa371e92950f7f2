//! What pipelines do besides summing up one product: orders of tiles, messages that are held, products under way, factors in
//! registers, sinks that are read.

use cuda_tiles::prelude::*;
use cuda_tiles::mma::SharedMma;

/// Adds the product of each tile of `x` and `unit` to its tile of `y`: twice where a tile came twice, and not at all where it did
/// not come.
#[kernel(
    threads = 128,
    producer = 32,
    min_blocks = 1,
    instances(<RowMajor>, <ColumnMajor>, <Grouped<3>>, <FromLastRow<2>>, <CausalBalanced>)
)]
pub fn add_in_order<O: TileOrder + Default + Send>(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 16>>,
    unit: TmaLoad<f16, Shape2<16, 16>>,
    y: TmaStore<f32, Shape2<64, 16>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 16>>, SharedTile<f16, Shape2<16, 16>>)>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    let order = O::default();
    let feed = roles
        .tile_indices(order, y.tile_counts())
        .map(move |[batch, i, j]| (x.tile_of(batch, i, j), unit.tile(0, 0)));
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, order) {
            let mut sums = Accumulator::from_tile(cx, tile.load(cx));
            consumer.k_loop(1).for_each(|(x, unit)| sums.mma(x, unit));
            tile.store(&mut buffer, sums.finish());
        }
    });
}

/// `y = (q k') v` for matrices of at most 32 columns: the next block of `q k'` is computed while the last one is multiplied by its
/// values. Products of `q` and `k` are rounded to `T`. Each three matrices of `x` are `q`, `k` and `v` of one of `y`.
#[kernel(threads = 128, producer = 32, min_blocks = 1, instances(<f16, 4>, <bf16, 0>))]
pub fn chained<B: Block, T: SharedMma<T, f32>, const S: usize>(
    roles: WarpRoles<B>,
    x: TmaLoad<T, Shape2<64, 32>>,
    y: TmaStore<f32, Shape2<64, 32>>,
    #[shared] ring: Ring<SharedTile<T, Shape2<64, 32>>, S>,
    #[shared] buffer: EpilogueBuffer<1>,
) where
    f32: Cast<T>,
{
    let blocks = x.tile_counts().0;
    let feed = roles.tile_indices(RowMajor, y.tile_counts()).flat_map(move |[batch, i, _]| {
        // The queries, then the keys of each block with its values behind them.
        (0..2 * blocks + 1).map(move |number| {
            let (kind, row) = if number == 0 { (0, i) } else { (2 - number % 2, (number - 1) / 2) };
            x.tile_of(3 * batch + kind, row, 0)
        })
    });
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            let held = consumer.wait();
            let query = held.tiles().load_operand_a(cx);
            consumer.release(held);
            let key = consumer.wait();
            let scores = consumer
                .start(Accumulator::unset(cx), key, |scores, key| scores.mma(query, key.transposed()));
            let mut weights = scores.finish(&mut consumer).cast::<T>();
            let mut sums = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            for _ in 1..blocks {
                let value = consumer.wait();
                let product = consumer.start(sums, value, |sums, v| sums.mma(weights, v));
                let key = consumer.wait();
                let scores = consumer
                    .start(Accumulator::unset(cx), key, |scores, key| scores.mma(query, key.transposed()));
                sums = Accumulator::from_tile(cx, product.finish(&mut consumer));
                weights = scores.finish(&mut consumer).cast();
            }
            let value = consumer.wait();
            let product = consumer.start(sums, value, |sums, v| sums.mma(weights, v));
            tile.store(&mut buffer, product.finish(&mut consumer));
        }
    });
}

/// `y = (a b') ∘ (a c') + r + factor y`, where `r` is a row: a stage of `a` is a factor of two products.
#[kernel(threads = 128, producer = 32, min_blocks = 1, instances(<f16>, <f32>))]
pub fn gated<O: Number + Cast<f32>>(
    roles: WarpRoles,
    a: TmaLoad<f16, Shape2<64, 32>>,
    b: TmaLoad<f16, Shape2<32, 32>>,
    c: TmaLoad<f16, Shape2<32, 32>>,
    r: Span<O, (u32,)>,
    factor: f32,
    y: TmaStore<O, Shape2<64, 32>>,
    #[shared] ring: Ring<
        (SharedTile<f16, Shape2<64, 32>>, SharedTile<f16, Shape2<32, 32>>, SharedTile<f16, Shape2<32, 32>>),
        3,
    >,
    #[shared] buffer: EpilogueBuffer<1>,
) where
    f32: Cast<O>,
{
    let steps = a.tile_counts().1;
    let feed = roles.tile_indices(ColumnMajor, y.tile_counts()).flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| (a.tile_of(batch, i, k), b.tile_of(batch, j, k), c.tile_of(batch, j, k)))
    });
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, ColumnMajor) {
            let mut left = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            let mut right = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            consumer.k_loop(steps).for_each(|(a, b, c)| {
                left.mma(a, b.transposed());
                right.mma(a, c.transposed());
            });
            let sums = left.finish() * right.finish();
            let sums = tile.add_previous(cx, tile.add_row(cx, sums, r), factor);
            tile.store(&mut buffer, sums.cast::<O>());
        }
    });
}

/// `y = a b' + c d` where `a` and `c` have as many columns; two messages are held at a time.
#[kernel(threads = 128, producer = 32, min_blocks = 1)]
pub fn two_products(
    roles: WarpRoles,
    a: TmaLoad<f16, Shape2<64, 64>>,
    b: TmaLoad<f16, Shape2<64, 64>>,
    c: TmaLoad<f16, Shape2<64, 64>>,
    d: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] ring: Ring<
        (
            SharedTile<f16, Shape2<64, 64>>,
            SharedTile<f16, Shape2<64, 64>>,
            SharedTile<f16, Shape2<64, 64>>,
            SharedTile<f16, Shape2<64, 64>>,
        ),
        3,
    >,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    let steps = a.tile_counts().1;
    let feed = roles.tile_indices(Grouped::<2>, y.tile_counts()).flat_map(move |[_, i, j]| {
        (0..steps).map(move |k| (a.tile(i, k), b.tile(j, k), c.tile(i, k), d.tile(k, j)))
    });
    roles.pipeline(ring, feed, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, Grouped::<2>) {
            let mut sums = Accumulator::<f32, Shape2<64, 64>, _>::zero(cx).finish();
            for _ in 0..steps / 2 {
                let (first, second) = (consumer.wait(), consumer.wait());
                let mut added = Accumulator::from_tile(cx, sums);
                let (a, b, c, d) = first.tiles();
                added.mma(a, b.transposed());
                added.mma(c, d);
                let (a, b, c, d) = second.tiles();
                added.mma(a.load_operand_a(cx), b.transposed());
                added.mma(c, d);
                sums = added.finish();
                consumer.release(first);
                consumer.release(second);
            }
            // The last one of an odd number, as a step behind messages that were held.
            let mut added = Accumulator::from_tile(cx, sums);
            consumer.k_loop(steps % 2).for_each(|(a, b, c, d)| {
                added.mma(a, b.transposed());
                added.mma(c, d);
            });
            tile.store(&mut buffer, added.finish());
        }
    });
}

/// Reads `count` messages of a feed that has as many as `x` has rows of tiles, and leaves others alone.
#[kernel(threads = 128, producer = 32, min_blocks = 1)]
pub fn read_some(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<64, 8>>,
    y: TmaStore<f32, Shape2<64, 8>>,
    count: u32,
    #[shared] ring: Ring<SharedTile<f32, Shape2<64, 8>>, 2>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    roles.pipeline(ring, x.column(0), move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let mut buffer = buffer;
        let mut sum = cx.zeros::<f32, _>(shape![64, 8]);
        consumer.k_loop(count).for_each(|stage| sum += stage.load(cx));
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}

/// Receives `count` messages and does not release them; then, with `steps`, takes as many steps.
#[kernel(threads = 128, producer = 32, min_blocks = 1)]
pub fn forget_some(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<64, 8>>,
    y: TmaStore<f32, Shape2<64, 8>>,
    count: u32,
    steps: u32,
    #[shared] ring: Ring<SharedTile<f32, Shape2<64, 8>>, 3>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    roles.pipeline(ring, x.column(0), move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let mut buffer = buffer;
        let mut sum = cx.zeros::<f32, _>(shape![64, 8]);
        for _ in 0..count {
            let held = consumer.wait();
            sum += held.tiles().load(cx);
        }
        if steps != 0 {
            consumer.k_loop(steps).for_each(|stage| sum += stage.load(cx));
        }
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}
