//! `i32` is not a floating-point element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<i32>(shape![8]).exp();
    });
}
