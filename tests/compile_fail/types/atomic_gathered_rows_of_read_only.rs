//! this span is not shared by atomic operations

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<i32, (u32, u32)>) {
    let rows = cx.iota::<i32>(shape![4]);
    let _ = x.gather_scatter_view(cx, shape![4, 64]).atomic_load((rows, 0), Relaxed, scope::Device);
}

fn main() {}
