//! a kernel has no lifetime parameters: what it is given is valid as long as it runs, and has no lifetime

use cuda_tiles::prelude::*;

#[kernel]
fn fill<'a>(cx: Cx, y: SpanMut<f32, (u32,)>) {
    let _ = (cx, y);
}

fn main() {}
