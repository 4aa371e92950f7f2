//! a tile of a writable span is named by an index that contains the block's own

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    let _ = x.partition(cx, shape![64]).load(0);
}

fn main() {}
