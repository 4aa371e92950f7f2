//! is not a legal padding for elements of type `cuda_tiles::element::f8e4m3`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f8e4m3, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load_masked(PositiveInfinity, cx.bid::<0>());
}

fn main() {
    let _ = kernel_under_test.description();
}
