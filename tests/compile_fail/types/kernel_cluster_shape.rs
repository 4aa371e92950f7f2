//! a cluster is two blocks, whose tiles lie one below the other, `[2, 1]`, or side by side, `[1, 2]`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, producer = 32, cluster = [4, 1], targets = warpgroups)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
