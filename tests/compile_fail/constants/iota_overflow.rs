//! iota: the last number of the tile does not fit its element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.iota::<u8>(shape![512]);
    });
}
