//! `copy` is how many threads do nothing but copy: 32, a warp for one ring, 64 or 96 for more, or 128, a warpgroup

use cuda_tiles::prelude::*;

#[kernel(threads = 256, producer = 48)]
fn nothing(roles: WarpRoles) {
    let _ = block;
}

fn main() {}
