//! `f32` does not convert to `cuda_tiles::element::f4e2m1` in this rounding mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 0.3f32).cast_with::<f4e2m1>(TowardZero);
    });
}
