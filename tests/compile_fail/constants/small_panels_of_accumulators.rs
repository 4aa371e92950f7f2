//! panels of fewer than 64 rows are for transposed accumulators: take `EpilogueBuffer<2>`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, producer = 32)]
fn copies(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<64, 64>>,
    y: TmaStore<f16, Shape2<64, 64>>,
    #[shared] ring: Ring<SharedTile<f16, Shape2<64, 64>>>,
    #[shared] buffer: EpilogueBuffer<1, 32>,
) {
    let loads = roles.tile_indices(RowMajor, y.tile_counts()).map(move |[_, i, j]| x.tile(i, j));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let mut buffer = buffer;
        for tile in y.schedule(cx, RowMajor) {
            let x = consumer.wait();
            tile.store(&mut buffer, x.tiles().load(cx));
            consumer.release(x);
        }
    });
}

fn main() {}
