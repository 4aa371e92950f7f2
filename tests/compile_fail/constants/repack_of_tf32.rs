//! repack: tf32 has 19 bits, which fill no elements

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<tf32>(shape![8]).repack::<u8, 0>();
    });
}
