//! Tile::at takes one index for each dimension of the tile

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 8]).at([3]);
    });
}
