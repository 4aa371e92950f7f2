//! mismatched types

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, y: SpanMut<f32, (u32, u32)>) {
    let y = y.partition(cx, shape![8, 8]);
    if *cx.bid::<0>() == 0 {
        y.schedule(cx, RowMajor).tiles().for_each(|tile| tile.store(cx.ones::<f32>(shape![8, 8])));
    } else {
        y.schedule(cx, ColumnMajor).tiles().for_each(|tile| tile.store(cx.zeros::<f32>(shape![8, 8])));
    }
}

fn main() {}
