//! Divisible<_, K> needs a K from 1 to 2147483647

use cuda_tiles::prelude::*;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32,)>, start: u32) {
    let _ = (cx, x, Divisible::<u32, 0>::new(start));
}

fn main() {}
