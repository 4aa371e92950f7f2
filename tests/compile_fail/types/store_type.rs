//! elements of type `f32` cannot be stored as `i32` without an explicit conversion

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<i32, (u32,)>) {
    x.partition(cx, shape![64]).store(cx.zeros::<f32>(shape![64]), cx.bid::<0>());
}

fn main() {}
