//! mismatched types

use cuda_tiles::prelude::*;

#[kernel(cpu = 64)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
