//! a tile of a writable span is named by an index that contains the block's own

use cuda_tiles::prelude::*;

#[kernel(grid = 2)]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32, u32)>) {
    x.partition(cx, shape![8, 8]).store(cx.zeros::<f32>(shape![8, 8]), (cx.bid::<0>(), 0));
}

fn main() {}
