//! products of `cuda_tiles::element::f8e4m3` and `cuda_tiles::element::f8e5m2` are not accumulated in

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f8e4m3>(shape![4, 4]), cx.zeros::<f8e5m2>(shape![4, 4]));
        let _ = mma(a, b, cx.zeros::<f32>(shape![4, 4]));
    });
}
