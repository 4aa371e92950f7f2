//! no implementation for `Tile<f32,

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]) << cx.ones::<u32>(shape![8]);
    });
}
