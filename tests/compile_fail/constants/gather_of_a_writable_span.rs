//! gathered elements of a writable span may be written by other blocks

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<i32, (u32,)>) {
    let _ = x.gather(cx.iota::<i32>(shape![64]));
}

fn main() {}
