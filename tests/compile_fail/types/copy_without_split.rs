//! the first argument of a kernel with threads that copy is its block before the roles part: `block: Split`

use cuda_tiles::prelude::*;

#[kernel(threads = 256, copy = 32)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
