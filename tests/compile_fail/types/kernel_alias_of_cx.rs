//! is not the running block of this kernel

use cuda_tiles::layout::Cta;
use cuda_tiles::prelude::{SpanMut, kernel, shape};

trait Other {
    type Block;
}
impl<B> Other for B {
    type Block = Cta<1, 4, 1>;
}
type Cx<B> = cuda_tiles::context::Cx<<B as Other>::Block>;

#[kernel(grid = 2)]
fn fill(cx: Cx, y: SpanMut<f32, (u32,)>) {
    y.partition(cx, shape![4]).store(cx.zeros::<f32>(shape![4]), cx.bid::<0>());
}

fn main() {}
