//! the step of a strided view is positive

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = x.strided(cx, shape![8, 8], steps![8, 0]).load((0, 0));
}

fn main() {}
