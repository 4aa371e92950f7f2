//! a kernel is an ordinary function, without an `extern`: #[kernel] makes its entry on the GPU, and a panic in it becomes an error of the launch

use cuda_tiles::prelude::*;

#[kernel]
extern "C" fn fill(cx: Cx, n: u32) {
    let _ = (cx, n);
}

fn main() {}
