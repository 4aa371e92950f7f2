//! a `Padded` axis is not reduced, scanned or sorted: its last elements may have any value

use cuda_tiles::prelude::*;
use cuda_tiles::shape::Padded;

#[kernel]
fn kernel_under_test(cx: Cx) {
    let _ = cx.ones::<f32>((D::<8>, Padded::<96>)).sum::<1>();
}

fn main() {}
