//! tiles of `i8` and `f32` have no product of matrices

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = matmul(cx.zeros::<i8, _>(shape![4, 4]), cx.zeros::<f32, _>(shape![4, 4]));
    });
}
