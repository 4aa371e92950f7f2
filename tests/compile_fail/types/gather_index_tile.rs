//! this is not an index of gathered tiles of shape

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32, u32)>) {
    let rows = cx.iota::<i32>(shape![8]);
    let _ = x.gather_scatter_view(cx, shape![4, 64]).load((rows, 0));
}

fn main() {}
