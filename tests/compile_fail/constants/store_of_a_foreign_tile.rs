//! a tile of a writable span is named by an index that contains the block's own

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    x.partition(cx, shape![64]).store(cx.zeros::<f32>(shape![64]), cx.bid::<0>() + 1);
}

fn main() {}
