//! Clusters of two and of four blocks, whose producers load together.

use cuda_tiles::prelude::*;

type Square = SharedTile<f16, Shape2<64, 64>>;
type Wide = SharedTile<f16, Shape2<64, 128>>;

/// `y = x w`. The blocks of a cluster have tiles of rows one below the other, and share the tiles of `w`, of two boxes.
#[kernel(threads = 128, producer = 32, cluster = [2, 1], targets = warpgroups)]
pub fn product_by_cluster_of_rows(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 64>>,
    w: TmaLoad<f16, Shape2<64, 128>>,
    y: TmaStore<f32, Shape2<64, 128>>,
    #[shared] ring: Ring<(Square, Wide), 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let steps = x.tile_counts().1;
    let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    let loads = tiles.flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| (x.tile_of(batch, i, k).for_each_block::<0, 0>(), w.tile(k, j)))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor) {
            let acc = consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w));
            tile.store(&mut buffer, acc);
        }
    });
}

/// `y = x w`. The blocks of a cluster have tiles of columns side by side, and share the tiles of `x`, of one box, and of `w` nothing.
#[kernel(threads = 128, producer = 64, cluster = [1, 2], targets = warpgroups)]
pub fn product_by_cluster_of_columns(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 64>>,
    w: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<64, 64>>,
    #[shared] rows: Ring<Square, 2>,
    #[shared] columns: Ring<Square, 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let tiles = roles.tile_indices(Grouped::<4>, y.tile_counts());
    let of_x = tiles.clone().map(move |[batch, i, _]| x.tile_of(batch, i, 0));
    let of_w = tiles.map(move |[_, _, j]| w.tile(0, j).for_each_block::<1, 1>());
    roles.pipelines((rows, columns), (of_x, of_w), move |cx, (mut rows, mut columns)| {
        for tile in y.schedule(cx, Grouped::<4>) {
            let x = rows.wait();
            let acc = columns.k_loop(1).accumulate(|acc, w| acc.mma(x.tiles(), w));
            rows.release(x);
            tile.store(&mut buffer, acc);
        }
    });
}

/// `y = x w`. The blocks of a row of a cluster share the tiles of `x`, of one box, and those of a column the tiles of `w`, of two.
#[kernel(threads = 128, producer = 32, cluster = [2, 2], targets = warpgroups)]
pub fn product_by_cluster_of_rows_and_columns(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 64>>,
    w: TmaLoad<f16, Shape2<64, 128>>,
    y: TmaStore<f32, Shape2<64, 128>>,
    #[shared] ring: Ring<(Square, Wide), 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let steps = x.tile_counts().1;
    let tiles = roles.tile_indices(Grouped::<4>, y.tile_counts());
    let loads = tiles.flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| {
            (x.tile_of(batch, i, k).for_each_block::<0, 0>(), w.tile(k, j).for_each_block::<1, 1>())
        })
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, Grouped::<4>) {
            let acc = consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w));
            tile.store(&mut buffer, acc);
        }
    });
}

/// `y = x w`. The four blocks of a cluster have tiles of columns side by side, and share the tiles of `x`, of two boxes.
#[kernel(threads = 256, producer = 128, cluster = [1, 4], min_blocks = 1, targets = warpgroups)]
pub fn product_by_cluster_of_four_columns(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<128, 64>>,
    w: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f32, Shape2<128, 64>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<128, 64>>, Square), 3>,
    #[shared] mut buffer: EpilogueBuffer<2>,
) {
    let steps = x.tile_counts().1;
    let tiles = roles.tile_indices(RowMajor, y.tile_counts());
    let loads = tiles.flat_map(move |[batch, i, j]| {
        (0..steps).map(move |k| (x.tile_of(batch, i, k), w.tile(k, j).for_each_block::<1, 1>()))
    });
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor) {
            let acc = consumer.k_loop(steps).accumulate(|acc, (x, w)| acc.mma(x, w));
            tile.store(&mut buffer, acc);
        }
    });
}

/// Each block of a cluster adds up the first tiles of its rows of `x`, as many as byte k of `counts` says for block k, and stores the sum in its
/// tiles of `y`. The loads never end.
#[kernel(threads = 128, producer = 32, cluster = [2, 1], targets = warpgroups)]
pub fn read_unequally_in_clusters(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 16>>,
    unit: TmaLoad<f16, Shape2<16, 16>>,
    y: TmaStore<f32, Shape2<64, 16>>,
    counts: u32,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 16>>, SharedTile<f16, Shape2<16, 16>>), 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let loads = (0..u32::MAX).map(move |k| (x.tile(2 * k, 0).for_each_block::<0, 0>(), unit.tile(0, 0)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor).take(1) {
            let [_, i, _] = tile.index();
            let count = counts >> (8 * (i % 2)) & 255;
            tile.store(&mut buffer, consumer.k_loop(count).accumulate(|acc, (x, unit)| acc.mma(x, unit)));
        }
    });
}

/// As [`read_unequally_in_clusters`], in clusters of two rows and two columns of blocks: a column of blocks multiplies by its own tile of
/// `units`.
#[kernel(threads = 128, producer = 32, cluster = [2, 2], targets = warpgroups)]
pub fn read_unequally_in_clusters_of_four(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 16>>,
    units: TmaLoad<f16, Shape2<16, 16>>,
    y: TmaStore<f32, Shape2<64, 16>>,
    counts: u32,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 16>>, SharedTile<f16, Shape2<16, 16>>), 3>,
    #[shared] mut buffer: EpilogueBuffer<1>,
) {
    let loads = (0..u32::MAX)
        .map(move |k| (x.tile(2 * k, 0).for_each_block::<0, 0>(), units.tile(0, 0).for_each_block::<1, 1>()));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor).take(1) {
            let [_, i, j] = tile.index();
            let count = counts >> (8 * (i % 2 * 2 + j % 2)) & 255;
            tile.store(&mut buffer, consumer.k_loop(count).accumulate(|acc, (x, unit)| acc.mma(x, unit)));
        }
    });
}
