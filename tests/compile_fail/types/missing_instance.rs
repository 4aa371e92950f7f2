//! kernel `scale` has no instance for these parameters

use cuda_tiles::prelude::*;

#[kernel(instances(<f32, 64>, <f16, 128>))]
fn scale<B: Block, T: Number, const N: usize>(cx: Cx<B>, x: Span<T, (u32,)>, y: SpanMut<T, (u32,)>)
where
    D<N>: Dimension,
{
    let i = cx.bid::<0>();
    y.partition(cx, shape![N]).store_masked(x.partition(cx, shape![N]).load_masked(Zero, i), i);
}

fn main() {
    let _ = scale::<f32, 128>();
}
