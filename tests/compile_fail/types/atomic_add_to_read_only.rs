//! this span is read-only

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32,)>) {
    x.partition(cx, shape![64]).atomic_add(cx.ones::<i32>(shape![64]), 0, Relaxed, scope::Device);
}

fn main() {}
