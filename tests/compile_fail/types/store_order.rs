//! is not a memory order of a store

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    x.partition(cx, shape![64]).atomic_store(
        cx.zeros::<i32>(shape![64]),
        cx.bid::<0>(),
        Acquire,
        scope::Device,
    );
}

fn main() {}
