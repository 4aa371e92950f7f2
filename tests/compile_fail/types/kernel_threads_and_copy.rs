//! a block has at most 1024 threads, those that copy among them

use cuda_tiles::prelude::*;

#[kernel(threads = 1024, producer = 32)]
fn nothing(roles: WarpRoles) {
    let _ = block;
}

fn main() {}
