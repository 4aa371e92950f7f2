//! cannot add `Tile<

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let x = cx.zeros::<f8e4m3>(shape![8]);
        let _ = x + x;
    });
}
