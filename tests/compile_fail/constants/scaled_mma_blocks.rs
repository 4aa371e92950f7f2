//! scaled_mma: a block has 32 elements

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f8e4m3>(shape![4, 32]), cx.zeros::<f8e4m3>(shape![32, 4]));
        let one = f8e8m0::constant(1.0);
        let (a_scale, b_scale) = (cx.full(shape![4, 2], one), cx.full(shape![2, 4], one));
        let _ = scaled_mma(a, a_scale, b, b_scale, cx.zeros::<f32>(shape![4, 4]));
    });
}
