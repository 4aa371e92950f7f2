//! tiles of `cuda_tiles::element::f4e2m1` with scales of `cuda_tiles::element::f8e5m2` have no scaled multiplication

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f4e2m1>(shape![4, 32]), cx.zeros::<f4e2m1>(shape![32, 4]));
        let (a_scale, b_scale) = (cx.zeros::<f8e5m2>(shape![4, 1]), cx.zeros::<f8e5m2>(shape![1, 4]));
        let _ = scaled_mma(a, a_scale, b, b_scale, cx.zeros::<f32>(shape![4, 4]));
    });
}
