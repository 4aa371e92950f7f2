//! a span with mapping `cuda_tiles::span::Strided` cannot be reshaped

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32), Strided>) {
    let _ = (cx, x.reshape((x.extent(1), x.extent(0))));
}

fn main() {}
