//! the tiles of a writable view are named by the block's index at the same place every time

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![8, 8]);
    let tile = y.load((0, cx.bid::<0>()));
    y.store(tile, (cx.bid::<0>(), 0));
}

fn main() {}
