//! a block has at most 1024 threads, producer threads included

use cuda_tiles::prelude::*;

#[kernel(threads = 1024, producer = 32)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
