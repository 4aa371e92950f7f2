
use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.full(shape![8], 0.3f32).cast_with::<f4e2m1>(TowardZero);
    });
}
