//! blocks that share a producer are warpgroups, and so is the producer: `consumers` goes with `threads = 128` and `producer = 128`, with a grid of one axis

use cuda_tiles::prelude::*;

#[kernel(threads = 256, consumers = 3, producer = 128, targets = warpgroups)]
fn nothing(roles: WarpRoles) {
    let _ = roles;
}

fn main() {}
