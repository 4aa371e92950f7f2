//! `Option<f32>` cannot be an argument of a kernel

use cuda_tiles::prelude::*;

#[kernel]
fn copy(cx: Cx, x: Option<f32>) {
    let _ = (cx, x);
}

fn main() {}
