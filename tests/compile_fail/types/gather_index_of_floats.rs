//! is not an index along an axis

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32, u32)>) {
    let _ = x.gather((cx.zeros::<f32>(shape![64]), 0));
}

fn main() {}
