//! f8e8m0 has no negative numbers

use cuda_tiles::prelude::*;

const SCALE: f8e8m0 = f8e8m0::constant(-1.0);

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], SCALE);
    });
}
