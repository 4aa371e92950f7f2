//! `vector` is how many neighbouring elements a thread holds

use cuda_tiles::prelude::*;

#[kernel(vector = 3)]
fn nothing(cx: Cx) {
    let _ = cx;
}

fn main() {}
