//! a block has 32, 64, 128, 256, 512 or 1024 threads

use cuda_tiles::prelude::*;

#[kernel(threads = 48)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
