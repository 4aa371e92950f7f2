//! the producers of a cluster load together: `cluster` goes with `producer`, with a grid of one axis, and without `consumers`

use cuda_tiles::prelude::*;

#[kernel(threads = 128, cluster = [2, 1], targets = warpgroups)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
