//! The second pass of products whose sums were cut into parts.

use cuda_tiles::prelude::*;

use super::epilogue::Sum;

/// `c = activation(alpha sums + beta c + bias)` of the sums of `splits` parts each: those of matrix `m` are the matrices
/// `m splits ..` of `parts`. Grid: blocks along columns, rows and matrices of `c`, of tiles of 16 x 128.
#[kernel(threads = 256, grid = 3, dependent, instances(<f32, f16>, <f32, bf16>, <f32, f32>, <i32, i32>))]
pub fn sum_parts<B: Block, C: Sum + Cast<O>, O: Number + Cast<C>>(
    cx: Cx<B>,
    parts: Span<C, (u32, u32, u32), Strided>,
    c: SpanMut<O, (u32, u32, u32), Strided>,
    bias: Span<O, (u32,)>,
    alpha: C,
    beta: C,
    activation: u32,
    splits: u32,
) {
    let parts = parts.partition(cx, shape![1, 16, 128]);
    let (j, i, m) = (cx.bid::<0>(), cx.bid::<1>(), cx.bid::<2>());
    let mut sums = cx.zeros::<C, _>(shape![1, 16, 128]);
    for part in 0..splits {
        sums = sums + parts.load_masked(Zero, (*m * splits + part, *i, *j));
    }
    let c = c.partition(cx, shape![1, 16, 128]);
    sums = sums.map(move |sum| Number::mul(sum, alpha));
    if beta != C::ZERO {
        sums = sums + c.load_masked(Zero, (m, i, j)).cast::<C>().map(move |before| Number::mul(before, beta));
    }
    if bias.extent(0) != 0 {
        sums = sums + bias.partition(cx, shape![128]).load_masked(Zero, *j).cast::<C>();
    }
    c.store_masked(C::activated(sums, activation).cast::<O>(), (m, i, j));
}
