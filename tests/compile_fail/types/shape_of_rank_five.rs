//! is not a tile shape

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![2, 2, 2, 2, 2]);
    });
}
