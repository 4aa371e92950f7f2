//! minimum and maximum of `f32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f32>(shape![8]).minimum_with(2.0, TowardZero);
    });
}
