//! blocks share a producer on GPUs with warpgroups: `consumers` goes with `targets = warpgroups`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, consumers = 3, producer = 128)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
