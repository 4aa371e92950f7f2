//! is unsafe and requires unsafe block

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<i32, (u32,)>) {
    x.scatter(1, cx.iota::<i32>(shape![64]));
}

fn main() {}
