//! a cluster is two or four blocks, in rows and columns of tiles: `[2, 1]`, `[1, 2]`, `[4, 1]`, `[2, 2]` or `[1, 4]`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, producer = 32, cluster = [4, 2], targets = warpgroups)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
