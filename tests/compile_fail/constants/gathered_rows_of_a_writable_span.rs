//! gathered tiles of a writable span may be written by other blocks

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<i32, (u32, u32)>) {
    let rows = cx.iota::<i32>(shape![4]);
    let _ = x.gather_scatter_view(cx, shape![4, 64]).load((rows, 0));
}

fn main() {}
