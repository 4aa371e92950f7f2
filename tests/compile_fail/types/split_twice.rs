//! use of moved value: `block`

use cuda_tiles::prelude::*;

fn part<B: Block>(roles: WarpRoles<B>) {
    let _ = block;
}

#[kernel(producer = 32)]
fn twice(roles: WarpRoles) {
    part(block);
    part(block);
}

fn main() {}
