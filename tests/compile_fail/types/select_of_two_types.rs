//! `select` cannot choose between elements of `f32` and `Tile<i32

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let condition = cx.full(shape![8], true);
        let _ = condition.select(cx.zeros::<f32>(shape![8]), cx.zeros::<i32>(shape![8]));
    });
}
