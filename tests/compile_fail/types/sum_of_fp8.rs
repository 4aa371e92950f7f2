//! tiles of `cuda_tiles::element::f8e4m3` have no arithmetic

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f8e4m3>(shape![8]).sum::<0>();
    });
}
