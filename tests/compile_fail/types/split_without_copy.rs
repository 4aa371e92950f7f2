//! `WarpRoles` is the block of a kernel with threads that copy: state `producer = 32` in #[kernel(...)], or take `cx: Cx`

use cuda_tiles::prelude::*;

#[kernel(threads = 256)]
fn nothing(roles: WarpRoles) {
    let _ = block;
}

fn main() {}
