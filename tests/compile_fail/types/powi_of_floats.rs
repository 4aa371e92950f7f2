//! `f32` is not an exponent of whole powers

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let exponents = cx.full(shape![8], 2.5f32);
        let _ = cx.zeros::<f32>(shape![8]).powi(exponents);
    });
}
