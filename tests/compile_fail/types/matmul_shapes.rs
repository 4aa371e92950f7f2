//! `matmul` does not multiply tiles of shapes `(D<4>, D<8>)` and `(D<4>, D<8>)`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let a = cx.zeros::<f32>(shape![4, 8]);
        let _ = matmul(a, a);
    });
}
