//! a tile of shape `(D<1>, D<64>)` does not broadcast to the shape `(D<64>,)`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    x.partition(cx, shape![64]).store(cx.zeros::<f32>(shape![1, 64]), cx.bid::<0>());
}

fn main() {}
