//! `i32` does not convert to `f32` in this rounding mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 3i32).cast_with::<f32>(TowardZero);
    });
}
