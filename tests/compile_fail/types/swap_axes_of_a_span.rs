//! has no axes 0 and 2 to swap

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = (cx, x.transpose::<0, 2>());
}

fn main() {}
