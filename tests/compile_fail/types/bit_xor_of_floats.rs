//! tiles of `f32` have no bitwise operations

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).bit_xor::<0>();
    });
}
