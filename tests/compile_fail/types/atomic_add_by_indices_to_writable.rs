//! this span is not shared by atomic operations

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<i32, (u32,)>) {
    let _ = x.atomic_add(1, cx.iota::<i32>(shape![64]), Relaxed, scope::Device);
}

fn main() {}
