//! tiles of `bool` have no arithmetic

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], true).sum::<0>();
    });
}
