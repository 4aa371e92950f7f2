//! a tensor of f4e2m1, i4 or u4 is one of pairs, which share a byte

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f4e2m1, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load(cx.bid::<0>());
}

fn main() {
    let _ = kernel_under_test.description();
}
