//! matrices of shapes `(D<64>, D<32>)` and `(D<16>, D<64>)` do not multiply

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f16>(shape![64, 32]), cx.zeros::<f16>(shape![16, 64]));
        let _ = mma(a, b, cx.zeros::<f32>(shape![64, 64]));
    });
}
