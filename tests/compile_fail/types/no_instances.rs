//! a generic kernel lists the parameters for which it is compiled

use cuda_tiles::prelude::*;

#[kernel]
fn scale<B: Block, T: Number, const N: usize>(cx: Cx<B>, x: Span<T, (u32,)>, y: SpanMut<T, (u32,)>)
where
    D<N>: Dimension,
{
    let i = cx.bid::<0>();
    y.partition(cx, shape![N]).store_masked(x.partition(cx, shape![N]).load_masked(Zero, i), i);
}

fn main() {}
