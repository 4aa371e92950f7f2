//! `f32` does not convert to `cuda_tiles::element::f8e8m0`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 3.0f32).cast::<f8e8m0>();
    });
}
