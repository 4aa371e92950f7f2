//! `matmul` does not multiply tiles of `i8` and `f32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = matmul(cx.zeros::<i8>(shape![4, 4]), cx.zeros::<f32>(shape![4, 4]));
    });
}
