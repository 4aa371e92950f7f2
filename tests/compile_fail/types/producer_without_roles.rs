//! the first argument of a kernel with producer threads is `roles: WarpRoles`

use cuda_tiles::prelude::*;

#[kernel(threads = 256, producer = 32)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
