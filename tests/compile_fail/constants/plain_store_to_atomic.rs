//! an atomic span has atomic loads and stores only

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    x.partition(cx, shape![64]).store(cx.zeros::<i32>(shape![64]), cx.bid::<0>());
}

fn main() {}
