//! this span is read-only

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32,)>) {
    x.partition(cx, shape![64]).atomic_store(
        cx.zeros::<f32>(shape![64]),
        cx.bid::<0>(),
        Relaxed,
        scope::Device,
    );
}

fn main() {}
