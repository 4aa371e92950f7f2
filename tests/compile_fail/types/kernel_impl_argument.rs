//! the type of a kernel's argument has a name: in place of `impl Trait` take a generic parameter

use cuda_tiles::prelude::*;

#[kernel]
fn fill(cx: Cx, value: impl Element) {
    let _ = (cx, value);
}

fn main() {}
