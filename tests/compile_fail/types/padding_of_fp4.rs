//! is not a legal padding for elements of type `cuda_tiles::element::f4e2m1x2`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f4e2m1x2, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load_masked(Nan, cx.bid::<0>());
}

fn main() {
    let _ = kernel_under_test.description();
}
