//! a kernel with `dependent = early` is an `unsafe fn`

use cuda_tiles::prelude::*;

#[kernel(dependent = early)]
fn copy(cx: Cx, y: SpanMut<f32, (u32,)>) {
    y.partition(cx, shape![64]).store_masked(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
}

fn main() {}
