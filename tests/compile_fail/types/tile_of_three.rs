//! `D<3>` is not a tile dimension

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.tile_of([1, 2, 3]);
    });
}
