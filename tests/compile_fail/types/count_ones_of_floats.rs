//! `f32` is not an integer element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f32>(shape![8]).count_ones();
    });
}
