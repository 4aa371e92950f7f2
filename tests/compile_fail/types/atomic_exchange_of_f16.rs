//! have no atomic exchange

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<f16, (u32,)>) {
    let _ = x.atomic_exchange(f16::ONE, cx.iota::<i32>(shape![64]), Relaxed, scope::Device);
}

fn main() {}
