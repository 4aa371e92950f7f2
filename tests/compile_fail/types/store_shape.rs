//! tile dimensions `D<32>` and `D<64>` do not broadcast

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    x.partition(cx, shape![64]).store(cx.zeros::<f32>(shape![32]), cx.bid::<0>());
}

fn main() {}
