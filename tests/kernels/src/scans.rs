//! Scans along every axis, in every form.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

#[kernel(threads = 256, vector = 4)]
pub fn row_4(cx: Cx, x: Input<f32, (u32, D<8192>)>, y: Output<f32, (u32, D<8192>)>) {
    let (x, y) = (x.partition(cx, shape![1, 8192]), y.partition(cx, shape![1, 8192]));
    let row = (cx.bid::<0>(), 0);
    y.store(x.load(row).cumsum::<1>(), row);
}
#[kernel(threads = 512, vector = 4)]
pub fn row_512(cx: Cx, x: Input<f32, (u32, D<8192>)>, y: Output<f32, (u32, D<8192>)>) {
    let (x, y) = (x.partition(cx, shape![1, 8192]), y.partition(cx, shape![1, 8192]));
    let row = (cx.bid::<0>(), 0);
    y.store(x.load(row).cumsum::<1>(), row);
}
#[kernel(threads = 256, vector = 8)]
pub fn row_8(cx: Cx, x: Input<f32, (u32, D<8192>)>, y: Output<f32, (u32, D<8192>)>) {
    let (x, y) = (x.partition(cx, shape![1, 8192]), y.partition(cx, shape![1, 8192]));
    let row = (cx.bid::<0>(), 0);
    y.store(x.load(row).cumsum::<1>(), row);
}
