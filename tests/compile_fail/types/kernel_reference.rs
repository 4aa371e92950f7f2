//! a kernel's arguments are no references: a tensor is a span, `x: Span<f32, (u32,)>`, to which the launch is given `&tensor`

use cuda_tiles::prelude::*;

#[kernel]
fn fill(cx: Cx, x: &'static [f32]) {
    let _ = (cx, x);
}

fn main() {}
