//! Pipelines whose producer threads copy tiles of spans: rows begin anywhere.

use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;

/// `c = a b'` of spans alone.
#[kernel(
    threads = 128,
    producer = 128,
    min_blocks = 1,
    instances(<f16, f32, 64>, <bf16, f32, 64>, <tf32, f32, 32>, <i8, i32, 64>, <f8e4m3, f32, 64>, <f64, f64, 16>)
)]
pub fn product_of_spans<B: Block, T: KLoopElement<T, Accumulator = C>, C: Number, const K: usize>(
    roles: WarpRoles<B>,
    a: Span<T, (u32, u32), Pitched>,
    b: Span<T, (u32, u32), Pitched>,
    c: TmaStore<C, Shape2<64, 64>>,
    #[shared] ring: Ring<(SharedTile<T, Shape2<64, K>>, SharedTile<T, Shape2<64, K>>), 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) where
    D<K>: Dimension,
{
    let steps = a.extent(1).div_ceil(const { K as u32 });
    let loads = roles.tile_indices(Grouped::<8>, c.tile_counts()).flat_map(move |[_, i, j]| {
        (0..steps).map(move |k| (a.tile(shape![64, K], (i, k)), b.tile(shape![64, K], (j, k))))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, Grouped::<8>) {
            let sums = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b.transposed()));
            tile.store(&mut buffer, sums);
        }
    });
}

/// `c = a b`, where producer threads copy the tiles of `a`, and TMA copies those of `b` to the same stages.
#[kernel(threads = 128, producer = 96, min_blocks = 1)]
pub fn product_of_span_and_operand(
    roles: WarpRoles,
    a: Span<f16, (u32, u32), Pitched>,
    b: TmaLoad<f16, Shape2<32, 64>>,
    c: TmaStore<f32, Shape2<64, 64>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 32>>, SharedTile<f16, Shape2<32, 64>>), 4>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let steps = a.extent(1).div_ceil(32);
    let loads = roles
        .tile_indices(RowMajor, c.tile_counts())
        .flat_map(move |[_, i, j]| (0..steps).map(move |k| (a.tile(shape![64, 32], (i, k)), b.tile(k, j))));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in c.schedule(cx, RowMajor) {
            let sums = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b));
            tile.store(&mut buffer, sums);
        }
    });
}

/// `y = x w` for weights of up to 64 x 64: TMA copies them to a ring where they stay. A producer warp copies the rows of a span to another.
#[kernel(threads = 128, producer = 64, min_blocks = 1)]
pub fn linear_of_span(
    roles: WarpRoles,
    x: Span<f16, (u32, u32), Pitched>,
    w: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] weights: Ring<SharedTile<f16, Shape2<64, 64>>, 1>,
    #[shared] rows: Ring<SharedTile<f16, Shape2<64, 64>>, 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let tiles =
        roles.tile_indices(RowMajor, y.tile_counts()).map(move |[_, i, _]| x.tile(shape![64, 64], (i, 0)));
    roles.pipelines((weights, rows), ([w.tile(0, 0)], tiles), move |cx, (mut weights, mut rows)| {
        let tiles = y.schedule(cx, RowMajor);
        let w = weights.wait();
        for tile in tiles {
            let acc = rows.k_loop(1).accumulate(|acc, x| acc.mma(x, w.tiles()));
            tile.store(&mut buffer, acc);
        }
        weights.release(w);
    });
}

/// Adds up `count` tiles of 64 x 16 of a column of tiles. The producer has all tiles of the column; the consumers leave the rest alone.
#[kernel(threads = 128, producer = 64, min_blocks = 1, instances(<f32>, <f16>))]
pub fn sum_of_tiles<T: Element + Cast<f32>>(
    roles: WarpRoles,
    x: Span<T, (u32, u32), Pitched>,
    y: TmaStore<f32, Shape2<64, 16>>,
    count: u32,
    #[shared] ring: Ring<SharedTile<T, Shape2<64, 16>>, 2>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let tiles = x.extent(0).div_ceil(64);
    let loads = (0..tiles).map(move |i| x.tile(shape![64, 16], (i, 0)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let mut sum = cx.zeros::<f32>(shape![64, 16]);
        consumer.k_loop(count).for_each(|stage| sum += stage.load(cx).cast::<f32>());
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}
