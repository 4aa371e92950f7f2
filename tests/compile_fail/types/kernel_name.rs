//! a kernel's name is that of its entry in PTX, which has ASCII letters, digits and `_` alone

use cuda_tiles::prelude::*;

#[kernel]
fn größe(cx: Cx) {
    let _ = cx;
}

fn main() {}
