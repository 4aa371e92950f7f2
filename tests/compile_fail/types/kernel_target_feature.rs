//! a kernel has no `#[target_feature]`

use cuda_tiles::prelude::*;

#[kernel]
#[target_feature(enable = "avx512f")]
fn fill(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let _ = (cx, y);
}

fn main() {}
