//! an index of elements needs a tile in at least one place

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32, u32)>) {
    let _ = cx;
    let _ = x.gather((1, 2));
}

fn main() {}
