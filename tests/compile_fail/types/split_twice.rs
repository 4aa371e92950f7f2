//! use of moved value: `block`

use cuda_tiles::prelude::*;

fn part<B: Block>(block: Split<B>) {
    let _ = block;
}

#[kernel(copy = 32)]
fn twice(block: Split) {
    part(block);
    part(block);
}

fn main() {}
