//! `i32` is not an extent of a span

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (i32,)>) {
    let _ = x.extent(0);
}

fn main() {}
