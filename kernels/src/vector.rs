//! Element-wise kernels on vectors.

use cuda_tiles::prelude::*;

/// Sum of two vectors: `z = x + y`. Each block adds one tile of `N` elements.
#[kernel(threads = 1024, instances(<f32, 4096>, <f16, 4096>, <f64, 4096>, <i32, 4096>))]
pub fn add<B: Block, T: Number, const N: usize>(
    cx: Cx<B>,
    x: Span<T, (u32,)>,
    y: Span<T, (u32,)>,
    z: SpanMut<T, (u32,)>,
) where
    D<N>: Dimension,
{
    let (x, y, z) = (x.partition(cx, shape![N]), y.partition(cx, shape![N]), z.partition(cx, shape![N]));
    let i = cx.bid::<0>();
    z.store_masked(x.load_masked(Zero, i) + y.load_masked(Zero, i), i);
}

/// Copy of a vector: `y = x`. Each block copies one tile of `N` elements. No memory-bound kernel is faster than this copy.
#[kernel(threads = 1024, instances(<f32, 4096>))]
pub fn copy<B: Block, T: Number, const N: usize>(cx: Cx<B>, x: Span<T, (u32,)>, y: SpanMut<T, (u32,)>)
where
    D<N>: Dimension,
{
    let (x, y) = (x.partition(cx, shape![N]), y.partition(cx, shape![N]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i), i);
}
