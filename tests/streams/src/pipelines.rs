//! What pipelines do besides summing up one product: orders of tiles, messages that are held, products under way, factors in
//! registers, sinks that are read.

use cuda_tiles::prelude::*;
use cuda_tiles::stream::StagedProduct;

/// Adds the product of each tile of `x` and `unit` to its tile of `y`: twice where a tile came twice, and not at all where it did
/// not come.
#[kernel(
    threads = 128,
    copy = 32,
    min_blocks = 1,
    instances(<RowMajor>, <ColumnMajor>, <Swizzled<3>>, <FromLastRow<2>>, <Triangular>)
)]
pub fn add_in_order<O: Order + Default + Send>(
    block: Split,
    x: TileSource<f16, Shape2<64, 16>>,
    unit: TileSource<f16, Shape2<16, 16>>,
    y: TileSink<f32, Shape2<64, 16>>,
    #[shared] ring: Ring<(Staged<f16, Shape2<64, 16>>, Staged<f16, Shape2<16, 16>>)>,
    #[shared] stash: Stash<1>,
) {
    let order = O::default();
    let feed = block
        .indices(order, y.tile_counts())
        .map(move |[batch, i, j]| (x.tile_of(batch, i, j), unit.tile(0, 0)));
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in y.deal(cx, order) {
            let mut sums = Accumulator::from_tile(cx, tile.load(cx));
            receiver.steps(1).each(|(x, unit)| sums.mma(x, unit));
            tile.store(&mut stash, sums.finish());
        }
    });
}

/// `y = (q k') v` for matrices of at most 32 columns: the next block of `q k'` is computed while the last one is multiplied by its
/// values. Products of `q` and `k` are rounded to `T`. Each three matrices of `x` are `q`, `k` and `v` of one of `y`.
#[kernel(threads = 128, copy = 32, min_blocks = 1, instances(<f16, 4>, <bf16, 0>))]
pub fn chained<B: Block, T: StagedProduct<T, f32>, const S: usize>(
    block: Split<B>,
    x: TileSource<T, Shape2<64, 32>>,
    y: TileSink<f32, Shape2<64, 32>>,
    #[shared] ring: Ring<Staged<T, Shape2<64, 32>>, S>,
    #[shared] stash: Stash<1>,
) where
    f32: Cast<T>,
{
    let blocks = x.tile_counts().0;
    let feed = block.indices(RowMajor, y.tile_counts()).flat_map(move |[batch, i, _]| {
        // The queries, then the keys of each block with its values behind them.
        (0..2 * blocks + 1).map(move |number| {
            let (kind, row) = if number == 0 { (0, i) } else { (2 - number % 2, (number - 1) / 2) };
            x.tile_of(3 * batch + kind, row, 0)
        })
    });
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in y.deal(cx, RowMajor) {
            let held = receiver.receive();
            let query = held.stages().load_left(cx);
            receiver.release(held);
            let key = receiver.receive();
            let scores = receiver
                .start(Accumulator::unset(cx), key, |scores, key| scores.mma(query, key.transposed()));
            let mut weights = scores.finish(&mut receiver).cast::<T>();
            let mut sums = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            for _ in 1..blocks {
                let value = receiver.receive();
                let product = receiver.start(sums, value, |sums, v| sums.mma(weights, v));
                let key = receiver.receive();
                let scores = receiver
                    .start(Accumulator::unset(cx), key, |scores, key| scores.mma(query, key.transposed()));
                sums = Accumulator::from_tile(cx, product.finish(&mut receiver));
                weights = scores.finish(&mut receiver).cast();
            }
            let value = receiver.receive();
            let product = receiver.start(sums, value, |sums, v| sums.mma(weights, v));
            tile.store(&mut stash, product.finish(&mut receiver));
        }
    });
}

/// `y = (a b') ∘ (a c') + r + factor y`, where `r` is a row: a stage of `a` is a factor of two products.
#[kernel(threads = 128, copy = 32, min_blocks = 1, instances(<f16>, <f32>))]
pub fn gated<O: Number + Cast<f32>>(
    block: Split,
    a: TileSource<f16, Shape2<64, 32>>,
    b: TileSource<f16, Shape2<32, 32>>,
    c: TileSource<f16, Shape2<32, 32>>,
    r: Span<O, (u32,)>,
    factor: f32,
    y: TileSink<O, Shape2<64, 32>>,
    #[shared] ring: Ring<
        (Staged<f16, Shape2<64, 32>>, Staged<f16, Shape2<32, 32>>, Staged<f16, Shape2<32, 32>>),
        3,
    >,
    #[shared] stash: Stash<1>,
) where
    f32: Cast<O>,
{
    let steps = a.tile_counts().1;
    let feed = block.indices(ColumnMajor, y.tile_counts()).flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| (a.tile_of(batch, i, k), b.tile_of(batch, j, k), c.tile_of(batch, j, k)))
    });
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in y.deal(cx, ColumnMajor) {
            let mut left = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            let mut right = Accumulator::<f32, Shape2<64, 32>, _>::zero(cx);
            receiver.steps(steps).each(|(a, b, c)| {
                left.mma(a, b.transposed());
                right.mma(a, c.transposed());
            });
            let sums = left.finish() * right.finish();
            let sums = tile.add_present(cx, tile.add_row(cx, sums, r), factor);
            tile.store(&mut stash, sums.cast::<O>());
        }
    });
}

/// `y = a b' + c d` where `a` and `c` have as many columns; two messages are held at a time.
#[kernel(threads = 128, copy = 32, min_blocks = 1)]
pub fn two_products(
    block: Split,
    a: TileSource<f16, Shape2<64, 64>>,
    b: TileSource<f16, Shape2<64, 64>>,
    c: TileSource<f16, Shape2<64, 64>>,
    d: TileSource<f16, Shape2<64, 64>>,
    y: TileSink<f32, Shape2<64, 64>>,
    #[shared] ring: Ring<
        (
            Staged<f16, Shape2<64, 64>>,
            Staged<f16, Shape2<64, 64>>,
            Staged<f16, Shape2<64, 64>>,
            Staged<f16, Shape2<64, 64>>,
        ),
        3,
    >,
    #[shared] stash: Stash<1>,
) {
    let steps = a.tile_counts().1;
    let feed = block.indices(Swizzled::<2>, y.tile_counts()).flat_map(move |[_, i, j]| {
        (0..steps).map(move |k| (a.tile(i, k), b.tile(j, k), c.tile(i, k), d.tile(k, j)))
    });
    block.pipeline(ring, feed, move |cx, mut receiver| {
        let mut stash = stash;
        for tile in y.deal(cx, Swizzled::<2>) {
            let mut sums = Accumulator::<f32, Shape2<64, 64>, _>::zero(cx).finish();
            for _ in 0..steps / 2 {
                let (first, second) = (receiver.receive(), receiver.receive());
                let mut added = Accumulator::from_tile(cx, sums);
                let (a, b, c, d) = first.stages();
                added.mma(a, b.transposed());
                added.mma(c, d);
                let (a, b, c, d) = second.stages();
                added.mma(a.load_left(cx), b.transposed());
                added.mma(c, d);
                sums = added.finish();
                receiver.release(first);
                receiver.release(second);
            }
            // The last one of an odd number, as a step behind messages that were held.
            let mut added = Accumulator::from_tile(cx, sums);
            receiver.steps(steps % 2).each(|(a, b, c, d)| {
                added.mma(a, b.transposed());
                added.mma(c, d);
            });
            tile.store(&mut stash, added.finish());
        }
    });
}

/// Reads `count` messages of a feed that has as many as `x` has rows of tiles, and leaves others alone.
#[kernel(threads = 128, copy = 32, min_blocks = 1)]
pub fn read_some(
    block: Split,
    x: TileSource<f32, Shape2<64, 8>>,
    y: TileSink<f32, Shape2<64, 8>>,
    count: u32,
    #[shared] ring: Ring<Staged<f32, Shape2<64, 8>>, 2>,
    #[shared] stash: Stash<1>,
) {
    block.pipeline(ring, x.column(0), move |cx, mut receiver| {
        let tiles = y.deal(cx, RowMajor);
        let mut stash = stash;
        let mut sum = cx.zeros::<f32, _>(shape![64, 8]);
        receiver.steps(count).each(|stage| sum += stage.load(cx));
        for tile in tiles {
            tile.store(&mut stash, sum);
        }
    });
}

/// Receives `count` messages and does not release them; then, with `steps`, takes as many steps.
#[kernel(threads = 128, copy = 32, min_blocks = 1)]
pub fn forget_some(
    block: Split,
    x: TileSource<f32, Shape2<64, 8>>,
    y: TileSink<f32, Shape2<64, 8>>,
    count: u32,
    steps: u32,
    #[shared] ring: Ring<Staged<f32, Shape2<64, 8>>, 3>,
    #[shared] stash: Stash<1>,
) {
    block.pipeline(ring, x.column(0), move |cx, mut receiver| {
        let tiles = y.deal(cx, RowMajor);
        let mut stash = stash;
        let mut sum = cx.zeros::<f32, _>(shape![64, 8]);
        for _ in 0..count {
            let held = receiver.receive();
            sum += held.stages().load(cx);
        }
        if steps != 0 {
            receiver.steps(steps).each(|stage| sum += stage.load(cx));
        }
        for tile in tiles {
            tile.store(&mut stash, sum);
        }
    });
}
