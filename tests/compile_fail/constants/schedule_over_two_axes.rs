//! tiles are scheduled along grid axis 0

use cuda_tiles::prelude::*;

#[kernel(grid = 2)]
fn fill(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![16, 16]).schedule(cx, RowMajor);
    for tile in y.tiles() {
        tile.store_masked(cx.zeros::<f32>(shape![16, 16]));
    }
}

fn main() {}
