//! `f32` is not an integer element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).take::<0>(cx.zeros::<f32>(shape![4]));
    });
}
