//! Reductions along rows.

use cuda_tiles::prelude::*;

/// Sum of each row of any length. Each block takes one row, `N` elements at a time.
#[kernel(threads = 512, instances(<2048>, <8192>))]
pub fn row_sum<B: Block, const N: usize>(cx: Cx<B>, x: Span<f32, (u32, u32)>, sums: SpanMut<f32, (u32,)>)
where
    D<N>: Dimension,
{
    let (x, sums) = (x.partition(cx, shape![1, N]), sums.partition(cx, shape![1]));
    let row = cx.bid::<0>();
    let mut sum = cx.zeros::<f32>(shape![1, N]);
    for column in 0..x.num_tiles(1) {
        sum += x.load_masked(Zero, (row, column));
    }
    sums.store(sum.sum::<1>().reshape(shape![1]), row);
}
