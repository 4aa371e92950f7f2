//! expected threads, producer, consumers, cluster, vector, grid, min_blocks, registers, dependent, targets, cpu or instances

use cuda_tiles::prelude::*;

#[kernel(thread = 128)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
