//! this kernel tells blocks apart along fewer grid axes

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = x.partition(cx, shape![8, 8]).load((cx.bid::<0>(), cx.bid::<1>()));
}

fn main() {}
