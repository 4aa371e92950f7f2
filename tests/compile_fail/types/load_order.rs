//! is not a memory order of a load

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    let _ = x.partition(cx, shape![64]).atomic_load(cx.bid::<0>(), Release, scope::Device);
}

fn main() {}
