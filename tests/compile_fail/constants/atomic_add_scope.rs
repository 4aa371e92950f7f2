//! blocks share an atomic span: its accesses have scope::Device or scope::System

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanAtomic<i32, (u32,)>) {
    let _ = x.atomic_add(1, cx.iota::<i32>(shape![64]), Relaxed, scope::Block);
}

fn main() {}
