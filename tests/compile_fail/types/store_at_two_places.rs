//! the tiles of a writable view are named by the block's index at the same place every time

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![8, 8]);
    y.store(cx.zeros::<f32>(shape![8, 8]), (cx.bid::<0>(), 0));
    y.store(cx.ones::<f32>(shape![8, 8]), (1, cx.bid::<0>()));
}

fn main() {}
