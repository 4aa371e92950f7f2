//! a kernel returns nothing: it stores its results through writable spans

use cuda_tiles::prelude::*;

#[kernel]
fn answer(cx: Cx) -> u32 {
    cx.num_blocks(0)
}

fn main() {}
