//! `producer` is the number of producer threads: 32, a warp for one ring, 64 or 96 for more rings, or 128, a warpgroup

use cuda_tiles::prelude::*;

#[kernel(threads = 256, producer = 48)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
