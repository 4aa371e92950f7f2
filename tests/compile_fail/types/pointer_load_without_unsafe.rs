//! is unsafe and requires unsafe block

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32,)>) {
    let _ = cx.full(shape![64], x.pointer()).load();
}

fn main() {}
