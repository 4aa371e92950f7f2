//! tile shape `(D<8>, D<4>)` has no axis 2

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).transpose::<0, 2>();
    });
}
