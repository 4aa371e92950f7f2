//! `f32` is not a tile index

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = x.partition(cx, shape![8, 8]).load((cx.bid::<0>(), 0.5f32));
}

fn main() {}
