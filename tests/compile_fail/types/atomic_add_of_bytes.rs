//! elements of type `u8` have no atomic addition

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<u8, (u32,)>) {
    let _ = x.atomic_add(1, cx.iota::<i32>(shape![64]), Relaxed, scope::Device);
}

fn main() {}
