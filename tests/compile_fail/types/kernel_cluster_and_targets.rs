//! blocks form clusters on GPUs with warpgroups: `cluster` goes with `targets = warpgroups`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, producer = 32, cluster = [2, 1])]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
