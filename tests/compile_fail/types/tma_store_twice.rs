//! use of moved value: `y`

use cuda_tiles::prelude::*;

fn write(y: TmaStore<f16, Shape2<64, 64>>) {
    let _ = y;
}

#[kernel]
fn twice(cx: Cx, y: TmaStore<f16, Shape2<64, 64>>) {
    let _ = cx;
    write(y);
    write(y);
}

fn main() {}
