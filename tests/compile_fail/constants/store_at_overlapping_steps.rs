//! tiles of a writable span must not overlap

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    x.strided(cx, shape![8], steps![4]).store(cx.zeros::<f32>(shape![8]), cx.bid::<0>());
}

fn main() {}
