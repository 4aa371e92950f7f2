//! a kernel's first argument is the running block: `cx: Cx`, or `cx: Cx<B>` with `B: Block` as the kernel's first generic parameter

use cuda_tiles::layout::Cta;
use cuda_tiles::prelude::*;

#[kernel(grid = 2)]
fn fill<B: Block>(cx: Cx<Cta<1, 4, 1>>, y: SpanMut<f32, (u32,)>) {
    y.partition(cx, shape![4]).store(cx.zeros::<f32>(shape![4]), cx.bid::<0>());
}

fn main() {}
