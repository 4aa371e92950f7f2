//! `(D<64>,)` is not the shape of a tile of a matrix

use cuda_tiles::prelude::*;

#[kernel]
fn rows(cx: Cx, x: TmaLoad<f16, Shape1<64>>) {
    let _ = (cx, x);
}

fn main() {}
