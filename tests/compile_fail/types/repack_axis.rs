//! axis 2 of a tile of `u8` and shape `(D<2>, D<8>)` cannot be repacked as `u32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<u8>(shape![2, 8]).repack::<u32, 2>();
    });
}
