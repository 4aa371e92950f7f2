//! square roots of `f32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f32>(shape![8]).sqrt_with(Full);
    });
}
