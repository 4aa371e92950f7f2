//! this span is read-only

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32,)>) {
    // SAFETY: none: it does not compile.
    unsafe { x.scatter(1, cx.iota::<i32>(shape![64])) }
}

fn main() {}
