//! a kernel's first argument is the running block: `cx: Cx`

use cuda_tiles::prelude::*;

#[kernel]
fn copy(x: Span<f32, (u32,)>) {
    let _ = x;
}

fn main() {}
