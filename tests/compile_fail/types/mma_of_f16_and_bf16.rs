//! products of `cuda_tiles::element::f16` and `cuda_tiles::element::bf16` are not accumulated in

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f16>(shape![4, 4]), cx.zeros::<bf16>(shape![4, 4]));
        let _ = mma(a, b, cx.zeros::<f32>(shape![4, 4]));
    });
}
