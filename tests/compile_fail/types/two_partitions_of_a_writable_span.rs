//! use of moved value: `x`

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    let first = x.partition(cx, shape![64]);
    let second = x.partition(cx, shape![64]);
    first.store(second.load(cx.bid::<0>()), cx.bid::<0>());
}

fn main() {}
