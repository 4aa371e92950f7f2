//! `f64` does not convert to `cuda_tiles::element::f16` in this rounding mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 0.3f64).cast_with::<f16>(TiesAway);
    });
}
