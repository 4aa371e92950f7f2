//! `Zero` is not a legal padding for elements of type `f8e8m0`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f8e8m0, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load_masked(Zero, cx.bid::<0>());
}

fn main() {
    let _ = kernel_under_test.description();
}
