//! the tiles of a writable view are named by the block's index at the same place every time

use cuda_tiles::prelude::*;

#[kernel(grid = 2)]
fn kernel_under_test(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![8, 8]);
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    if *i < *j {
        y.store(cx.zeros::<f32>(shape![8, 8]), (i, j));
    } else {
        y.store(cx.ones::<f32>(shape![8, 8]), (j, i));
    }
}

fn main() {}
