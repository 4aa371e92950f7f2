//! a part of a tile is along no axis longer than the tile

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).extract(shape![8, 8], [0, 0]);
    });
}
