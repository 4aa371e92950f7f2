//! do not broadcast

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32, u32)>) {
    let _ = x.gather((cx.iota::<i32>(shape![64]), cx.iota::<i32>(shape![32])));
}

fn main() {}
