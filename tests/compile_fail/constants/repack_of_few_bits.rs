//! repack: the bits along the axis must fill whole bytes

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<u8>(shape![2, 8]).repack::<u32, 0>();
    });
}
