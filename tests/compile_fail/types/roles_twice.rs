//! use of moved value: `roles`

use cuda_tiles::prelude::*;

fn part<B: Block>(roles: WarpRoles<B>) {
    let _ = roles;
}

#[kernel(producer = 32)]
fn twice(roles: WarpRoles) {
    part(roles);
    part(roles);
}

fn main() {}
