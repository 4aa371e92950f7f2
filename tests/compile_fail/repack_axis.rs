//! cannot be made longer or shorter

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<u8, _>(shape![2, 8]).repack::<u32, 2>();
    });
}
