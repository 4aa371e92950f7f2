//! Blocks that share a producer and its stages, and take turns.

use cuda_tiles::prelude::*;

type Rows = SharedTile<f16, Shape2<64, 64>>;

/// `y = x w`. Two blocks have a tile of rows each, and share the tile of `w`.
#[kernel(threads = 128, consumers = 2, producer = 128, min_blocks = 1, targets = warpgroups)]
pub fn product_by_two(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 64>>,
    w: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] rows: Ring<(Rows, Rows), 2>,
    #[shared] weights: Ring<Rows, 3>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) {
    let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    let of_rows =
        tiles.clone().map(move |[batch, i, _]| (x.tile_of(batch, i, 0), x.tile_of(batch, i + 1, 0)));
    let of_weights = tiles.map(move |[_, _, j]| w.tile(0, j));
    roles.pipelines((rows, weights), (of_rows, of_weights), move |cx, (mut rows, mut weights)| {
        let tiles = y.schedule(cx, RowMajor);
        let own = cx.consumer();
        for tile in tiles {
            let (x, w) = (rows.wait(), weights.wait());
            let product = weights.in_turn(|weights| {
                weights.start(cx.zero_accumulator(shape![64, 64]), w, |acc, w| {
                    let (first, second) = x.tiles();
                    acc.mma(if own == 0 { first } else { second }, w);
                })
            });
            let product = product.finish(&mut weights);
            rows.release(x);
            tile.store(&mut buffer, product);
        }
    });
}

/// Block k of a CTA adds up the products of `unit` and as many of the first tiles of `x` as byte k of `counts` says, and stores the sum in
/// its tiles of `y`. Each so many steps, as byte k of `periods` says, it holds its stage until its turn; if that is zero, it takes no turns.
#[kernel(threads = 128, consumers = 3, producer = 128, min_blocks = 1, targets = warpgroups)]
pub fn read_unequally(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 16>>,
    unit: TmaLoad<f16, Shape2<16, 16>>,
    y: TmaStore<f32, Shape2<64, 16>>,
    counts: u32,
    periods: u32,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 16>>, SharedTile<f16, Shape2<16, 16>>), 3>,
    #[shared] mut buffer: EpilogueBuffer<3>,
) {
    let loads = x.column(0).map(move |x| (x, unit.tile(0, 0)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let own = 8 * cx.consumer();
        let (count, period) = (counts >> own & 255, periods >> own & 255);
        let mut sum = cx.zero_accumulator::<f32>(shape![64, 16]);
        for step in 0..count {
            let stage = consumer.wait();
            let product = if period != 0 && step % period == 0 {
                consumer.in_turn(|consumer| consumer.start(sum, stage, |sum, (x, unit)| sum.mma(x, unit)))
            } else {
                consumer.start(sum, stage, |sum, (x, unit)| sum.mma(x, unit))
            };
            sum = Accumulator::from_tile(product.finish(&mut consumer));
        }
        let sum = sum.finish();
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    });
}
