//! is not memory that a block shares

use cuda_tiles::prelude::*;

#[kernel]
fn nothing(cx: Cx, #[shared] x: Span<f32, (u32,)>) {
    let _ = (cx, x);
}

fn main() {}
