//! `(D<64>,)` is not of rank

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = x.partition(cx, shape![64]);
}

fn main() {}
