//! is not a memory order of a read-modify-write

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    let _ = x.atomic_add(1, cx.iota::<i32>(shape![64]), Zero, scope::Device);
}

fn main() {}
