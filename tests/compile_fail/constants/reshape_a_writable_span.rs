//! a writable span is reshaped to extents of which at most one is known at run time only

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: SpanMut<f32, (u32,)>) {
    let rows = *cx.bid::<0>() + 1;
    let columns = x.extent(0) / rows;
    let _ = x.reshape((rows, columns));
}

fn main() {}
