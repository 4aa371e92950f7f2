//! Tile::item takes the element of a tile of exactly one element

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).item();
    });
}
