//! a tile does not broadcast to the smaller shape `(D<64>,)`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    let value = cx.ones::<i32>(shape![2, 64]);
    let _ = x.atomic_add(value, cx.iota::<i32>(shape![64]), Relaxed, scope::Device);
}

fn main() {}
