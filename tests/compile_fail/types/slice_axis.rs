//! a span with extents `(u32, u32)` has no axis 2

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = (cx, x.slice::<2>(1..3));
}

fn main() {}
