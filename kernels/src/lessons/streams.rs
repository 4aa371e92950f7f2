//! Pipelines without matrix multiplication.

use cuda_tiles::prelude::*;

/// Softmax of rows of any length. The kernel is persistent: any number of blocks shares the rows, 8 at a time.
///
/// A row passes twice, in tiles of 256 columns: once for its maximum and its sum, once more to be scaled. The producer loads
/// tiles, those of the next rows included, while the consumers compute on earlier tiles.
#[kernel(threads = 256, producer = 32)]
pub fn softmax_streamed(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<8, 256>>,
    y: SpanMut<f32, (u32, u32)>,
    #[shared] ring: Ring<SharedTile<f32, Shape2<8, 256>>>,
) {
    let (rows, columns, length) = (x.tile_counts().0, x.tile_counts().1, x.columns());
    let loads =
        roles.tile_indices(RowMajor, [1, rows, 1]).flat_map(move |[_, i, _]| x.row(i).chain(x.row(i)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let y = y.partition(cx, shape![8, 256]);
        for row in cx.tiles::<0>(rows) {
            let (mut top, mut sums) = (cx.full(shape![8, 256], f32::MIN), cx.zeros::<f32>(shape![8, 256]));
            let mut column = cx.coordinate::<1>(shape![8, 256]);
            consumer.k_loop(columns).for_each(|stage| {
                // Beyond the edge a stage is zero.
                let tile = column.lt(length).select(stage.load(cx), f32::NEG_INFINITY);
                let next = top.maximum(tile);
                sums = sums * (top - next).exp_approximate() + (tile - next).exp_approximate();
                (top, column) = (next, column + 256);
            });
            let largest = top.max::<1>();
            let scale = 1.0 / (sums * (top - largest).exp_approximate()).sum::<1>();
            for column in 0..columns {
                let guard = consumer.wait();
                let tile = guard.tiles().load(cx);
                consumer.release(guard);
                y.store_masked((tile - largest).exp_approximate() * scale, (row, column));
            }
        }
    });
}

/// Softmax of rows of any length and any alignment, 8 rows a block: the tiles of a row are copied ahead by the block's own threads.
#[kernel(threads = 256)]
pub fn softmax_ahead(
    cx: Cx,
    x: Span<f32, (u32, u32)>,
    y: SpanMut<f32, (u32, u32)>,
    #[shared] mut ring: Ring<SharedTile<f32, Shape2<8, 256>>, 6>,
) {
    let length = x.extent(1);
    let (x, y) = (x.partition(cx, shape![8, 256]), y.partition(cx, shape![8, 256]));
    let (i, columns) = (cx.bid::<0>(), x.num_tiles(1));
    let (mut top, mut sums) = (cx.full(shape![8, 256], f32::MIN), cx.zeros::<f32>(shape![8, 256]));
    let mut column = cx.coordinate::<1>(shape![8, 256]);
    ring.copy_ahead(cx, columns, |k| x.tile((i, k))).for_each(|tile| {
        // Beyond the edge a tile is zero.
        let tile = column.lt(length).select(tile.load(cx), f32::NEG_INFINITY);
        let next = top.maximum(tile);
        sums = sums * (top - next).exp_approximate() + (tile - next).exp_approximate();
        (top, column) = (next, column + 256);
    });
    let largest = top.max::<1>();
    let scale = 1.0 / (sums * (top - largest).exp_approximate()).sum::<1>();
    let mut k = 0;
    ring.copy_ahead(cx, columns, |k| x.tile((i, k))).for_each(|tile| {
        y.store_masked((tile.load(cx) - largest).exp_approximate() * scale, (i, k));
        k += 1;
    });
}
