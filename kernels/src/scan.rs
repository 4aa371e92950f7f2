//! Scans along rows.

use cuda_tiles::prelude::*;

/// Cumulative sums of each row of `N` elements. Each block takes one row.
#[kernel(threads = 1024, instances(<f32, 8192>, <i32, 8192>))]
pub fn cumulative_sum<B: Block, T: Number, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32, D<N>), Right, Aligned<16>>,
    y: SpanMut<T, (u32, D<N>), Right, Aligned<16>>,
) where
    D<N>: Dimension,
{
    let (x, y) = (x.partition(cx, shape![1, N]), y.partition(cx, shape![1, N]));
    let row = (cx.bid::<0>(), 0);
    y.store(x.load(row).cumsum::<1>(), row);
}
