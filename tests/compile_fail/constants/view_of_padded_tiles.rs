//! a view has tiles without `Padded` dimensions, which are for the columns of products

use cuda_tiles::prelude::*;
use cuda_tiles::shape::Padded;

#[kernel]
fn kernel_under_test(cx: Cx, x: Span<f32, (u32, u32)>) {
    let _ = x.partition(cx, (D::<8>, Padded::<96>)).load((0, 0));
}

fn main() {}
