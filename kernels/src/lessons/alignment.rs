//! The same kernels with and without types that state how rows lie in memory: the launch knows it, and so the kernel asks once.

use cuda_tiles::prelude::*;

/// `y = 2 x + 1`, of matrices of which nothing is stated.
#[kernel(threads = 256, grid = 2)]
pub fn scale_any(cx: Cx, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>) {
    let (x, y) = (x.partition(cx, shape![4, 1024]), y.partition(cx, shape![4, 1024]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, index) * 2.0 + 1.0, index);
}

/// `y = 2 x + 1`, of matrices whose rows are whole vectors.
#[kernel(threads = 256, grid = 2)]
pub fn scale_stated(
    cx: Cx,
    x: Span<f32, (u32, Mult<u32, 4>), Right, Aligned<16>>,
    y: SpanMut<f32, (u32, Mult<u32, 4>), Right, Aligned<16>>,
) {
    let (x, y) = (x.partition(cx, shape![4, 1024]), y.partition(cx, shape![4, 1024]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(x.load_masked(Zero, index) * 2.0 + 1.0, index);
}

/// Softmax of rows of at most 8192 elements, of which nothing is stated.
#[kernel(threads = 256)]
pub fn softmax_any(cx: Cx, x: Span<f16, (u32, u32)>, y: SpanMut<f16, (u32, u32)>) {
    let (x, y) = (x.partition(cx, shape![1, 8192]), y.partition(cx, shape![1, 8192]));
    let index = (cx.bid::<0>(), 0);
    let row = x.load_masked(NegativeInfinity, index).cast::<f32>();
    let powers = (row - row.max::<1>()).exp_approximate();
    y.store_masked((powers * (1.0 / powers.sum::<1>())).cast::<f16>(), index);
}

/// Softmax of rows of at most 8192 elements that are whole vectors.
#[kernel(threads = 256)]
pub fn softmax_stated(
    cx: Cx,
    x: Span<f16, (u32, Mult<u32, 8>), Right, Aligned<16>>,
    y: SpanMut<f16, (u32, Mult<u32, 8>), Right, Aligned<16>>,
) {
    let (x, y) = (x.partition(cx, shape![1, 8192]), y.partition(cx, shape![1, 8192]));
    let index = (cx.bid::<0>(), 0);
    let row = x.load_masked(NegativeInfinity, index).cast::<f32>();
    let powers = (row - row.max::<1>()).exp_approximate();
    y.store_masked((powers * (1.0 / powers.sum::<1>())).cast::<f16>(), index);
}
