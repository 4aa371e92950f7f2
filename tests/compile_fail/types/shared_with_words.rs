//! the mark of shared memory is `#[shared]`, without more

use cuda_tiles::prelude::*;

#[kernel]
fn nothing(cx: Cx, #[shared(4096)] x: Span<f32, (u32,)>) {
    let _ = (cx, x);
}

fn main() {}
