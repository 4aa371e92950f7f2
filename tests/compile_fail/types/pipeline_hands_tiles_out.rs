//! `out` does not live long enough

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(copy = 32)]
fn late(
    block: Split,
    x: TileSource<f32, Page>,
    y: TileSink<f32, Page>,
    #[shared] ring: Ring<Staged<f32, Page>, 2>,
    #[shared] stash: Stash<1>,
) {
    let mut out = None;
    let leave = &mut out;
    let tiles = block.deal(y, RowMajor);
    block.pipeline(ring, [x.tile(0, 0)], move |cx, mut receiver| {
        let mut sum = cx.zeros(shape![16, 16]);
        receiver.steps(1).each(|stage| sum = stage.load(cx));
        *leave = Some((tiles, stash, sum));
    });
    // Behind the pipeline, whose end waits for stores that are under way: another store.
    if let Some((tiles, mut stash, sum)) = out {
        for tile in tiles {
            tile.store(&mut stash, sum);
        }
    }
}

fn main() {}
