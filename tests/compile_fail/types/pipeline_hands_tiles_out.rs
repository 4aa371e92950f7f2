//! `out` does not live long enough

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(producer = 32)]
fn late(
    roles: WarpRoles,
    x: TmaLoad<f32, Page>,
    y: TmaStore<f32, Page>,
    #[shared] ring: Ring<SharedTile<f32, Page>, 2>,
    #[shared] buffer: EpilogueBuffer<1>,
) {
    let mut out = None;
    let leave = &mut out;
    let tiles = roles.schedule(y, RowMajor);
    roles.pipeline(ring, [x.tile(0, 0)], move |cx, mut consumer| {
        let mut sum = cx.zeros(shape![16, 16]);
        consumer.k_loop(1).for_each(|stage| sum = stage.load(cx));
        *leave = Some((tiles.of(cx), buffer, sum));
    });
    // Behind the pipeline, whose end waits for stores that are under way: another store.
    if let Some((tiles, mut buffer, sum)) = out {
        for tile in tiles {
            tile.store(&mut buffer, sum);
        }
    }
}

fn main() {}
