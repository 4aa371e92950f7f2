//! the tiles of a writable view are named by the block's index at the same place every time

use cuda_tiles::prelude::*;

#[kernel]
fn fill(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![16, 16]);
    let scheduled = y.schedule(cx, RowMajor);
    y.store_masked(cx.zeros::<f32>(shape![16, 16]), (cx.bid::<0>(), 0));
    scheduled.tiles().for_each(|tile| tile.store_masked(cx.ones::<f32>(shape![16, 16])));
}

fn main() {}
