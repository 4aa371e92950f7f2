//! matrices of shapes `(D<2>, D<4>, D<4>)` and `(D<4>, D<4>)` do not multiply

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f32>(shape![2, 4, 4]), cx.zeros::<f32>(shape![4, 4]));
        let _ = mma(a, b, cx.zeros::<f32>(shape![2, 4, 4]));
    });
}
