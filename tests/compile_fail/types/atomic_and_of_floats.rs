//! elements of type `f32` have no atomic bitwise operations

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<f32, (u32,)>) {
    let _ = x.atomic_and(1.0, cx.iota::<i32>(shape![64]), Relaxed, scope::Device);
}

fn main() {}
