//! Pipelines beyond a plain k loop: tile orders, several stages held at a time, multiplications in flight, operands in registers,
//! epilogues that read their output.

use cuda_tiles::mma::SharedMma;
use cuda_tiles::prelude::*;

/// Adds the product of each tile of `x` and `unit` to its tile of `y`. A tile that is scheduled twice is added twice; a tile that
/// is not scheduled is not acc.
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
    let loads = roles
        .tile_indices(order, y.tile_counts())
        .map(move |[batch, i, j]| (x.tile_of(batch, i, j), unit.tile(0, 0)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, order) {
            let mut acc = Accumulator::from_tile(tile.load(cx));
            consumer.k_loop(1).for_each(|(x, unit)| acc.mma(x, unit));
            tile.store(&mut buffer, acc.finish());
        }
    });
}

/// `y = (q k') v` for matrices of at most 32 columns. The kernel computes the next block of `q k'` while it multiplies the last one
/// by its values. It rounds `q k'` to `T`. Three consecutive matrices of `x` are `q`, `k` and `v` of one matrix of `y`.
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
    let loads = roles.tile_indices(RowMajor, y.tile_counts()).flat_map(move |[batch, i, _]| {
        // First the queries, then the keys and the values of each block.
        (0..2 * blocks + 1).map(move |number| {
            let (kind, row) = if number == 0 { (0, i) } else { (2 - number % 2, (number - 1) / 2) };
            x.tile_of(3 * batch + kind, row, 0)
        })
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            let guard = consumer.wait();
            let query = guard.tiles().load_operand_a(cx);
            consumer.release(guard);
            let key = consumer.wait();
            let scores = consumer.start(cx.unset_accumulator::<f32>(shape![64, 64]), key, |scores, key| {
                scores.mma(query, key.transposed())
            });
            let mut weights = scores.finish(&mut consumer).cast::<T>();
            let mut acc = cx.zero_accumulator::<f32>(shape![64, 32]);
            for _ in 1..blocks {
                let value = consumer.wait();
                let product = consumer.start(acc, value, |acc, v| acc.mma(weights, v));
                let key = consumer.wait();
                let scores =
                    consumer.start(cx.unset_accumulator::<f32>(shape![64, 64]), key, |scores, key| {
                        scores.mma(query, key.transposed())
                    });
                acc = Accumulator::from_tile(product.finish(&mut consumer));
                weights = scores.finish(&mut consumer).cast();
            }
            let value = consumer.wait();
            let product = consumer.start(acc, value, |acc, v| acc.mma(weights, v));
            tile.store(&mut buffer, product.finish(&mut consumer));
        }
    });
}

/// `y = (a b') ∘ (a c') + r + factor y`, where `r` is a row. Two multiplications read each tile of `a`.
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
    let loads = roles.tile_indices(ColumnMajor, y.tile_counts()).flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| (a.tile_of(batch, i, k), b.tile_of(batch, j, k), c.tile_of(batch, j, k)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, ColumnMajor) {
            let mut acc_b = cx.zero_accumulator::<f32>(shape![64, 32]);
            let mut acc_c = cx.zero_accumulator::<f32>(shape![64, 32]);
            consumer.k_loop(steps).for_each(|(a, b, c)| {
                acc_b.mma(a, b.transposed());
                acc_c.mma(a, c.transposed());
            });
            let gated = acc_b.finish() * acc_c.finish();
            let result = tile.add_previous(cx, tile.add_row(cx, gated, r), factor);
            tile.store(&mut buffer, result.cast::<O>());
        }
    });
}

/// `y = a b' + c d`, where `a` and `c` have equally many columns. The consumers hold two stages at a time.
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
    let loads = roles.tile_indices(Grouped::<2>, y.tile_counts()).flat_map(move |[_, i, j]| {
        (0..steps).map(move |k| (a.tile(i, k), b.tile(j, k), c.tile(i, k), d.tile(k, j)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, Grouped::<2>) {
            let mut sums = cx.zero_accumulator::<f32>(shape![64, 64]).finish();
            for _ in 0..steps / 2 {
                let (first, second) = (consumer.wait(), consumer.wait());
                let mut acc = Accumulator::from_tile(sums);
                let (a, b, c, d) = first.tiles();
                acc.mma(a, b.transposed());
                acc.mma(c, d);
                let (a, b, c, d) = second.tiles();
                acc.mma(a.load_operand_a(cx), b.transposed());
                acc.mma(c, d);
                sums = acc.finish();
                consumer.release(first);
                consumer.release(second);
            }
            // An odd number of steps leaves one: a k loop after stages that were held.
            let mut acc = Accumulator::from_tile(sums);
            consumer.k_loop(steps % 2).for_each(|(a, b, c, d)| {
                acc.mma(a, b.transposed());
                acc.mma(c, d);
            });
            tile.store(&mut buffer, acc.finish());
        }
    });
}

/// The sums of the first `lengths[s]` rows of each sequence s. Page k of a sequence is tile `table[s, k]` of `x`.
#[kernel(threads = 128, producer = 32, min_blocks = 1)]
pub fn sum_of_pages(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<64, 8>>,
    table: Span<u32, (u32, u32)>,
    lengths: Span<u32, (u32,)>,
    y: SpanMut<f32, (u32, D<8>)>,
    #[shared] ring: Ring<SharedTile<f32, Shape2<64, 8>>, 3>,
) {
    let sequences = lengths.extent(0);
    if sequences == 0 {
        return;
    }
    let loads = roles.tile_indices(RowMajor, [1, sequences, 1]).flat_map(move |[_, sequence, _]| {
        let pages = lengths.item(sequence).div_ceil(64);
        (0..pages).map(move |k| x.tile(table.item((sequence, k)), 0))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let y = y.partition(cx, shape![1, 8]);
        for sequence in cx.tiles::<0>(sequences) {
            let (mut sum, mut left) = (cx.zeros::<f32>(shape![64, 8]), lengths.item(sequence));
            consumer.k_loop(left.div_ceil(64)).for_each(|page| {
                let page = page.load(cx);
                sum += page.coordinates::<0>().lt(left).select(page, 0.0);
                left -= left.min(64);
            });
            y.store(sum.sum::<0>().reshape(shape![1, 8]), (sequence, 0));
        }
    });
}

/// Reads `count` stages. The producer loads one stage for each row of tiles of `x`; the consumers leave the rest alone.
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
        let mut sum = cx.zeros::<f32>(shape![64, 8]);
        consumer.k_loop(count).for_each(|stage| sum += stage.load(cx));
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}

/// Waits for `count` stages and releases none of them. Then runs a k loop of `steps` steps, unless `steps` is zero.
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
        let mut sum = cx.zeros::<f32>(shape![64, 8]);
        for _ in 0..count {
            let guard = consumer.wait();
            sum += guard.tiles().load(cx);
        }
        if steps != 0 {
            consumer.k_loop(steps).for_each(|stage| sum += stage.load(cx));
        }
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}

/// Holds two stages, releases the newer one first, and waits until the slot of the older one comes up again.
#[kernel(threads = 128, producer = 32, min_blocks = 1)]
pub fn release_the_newest(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<64, 8>>,
    y: TmaStore<f32, Shape2<64, 8>>,
    #[shared] ring: Ring<SharedTile<f32, Shape2<64, 8>>, 3>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    roles.pipeline(ring, x.column(0), move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            let (_oldest, newest) = (consumer.wait(), consumer.wait());
            consumer.release(newest);
            let (_, last) = (consumer.wait(), consumer.wait());
            tile.store(&mut buffer, last.tiles().load(cx));
        }
    });
}
