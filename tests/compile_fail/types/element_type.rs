//! `char` is not an element type of tiles

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 'x');
    });
}
