//! is not a legal padding for elements of type `i32`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load_masked(Nan, cx.bid::<0>());
}

fn main() {}
