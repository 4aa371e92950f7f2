//! `cuda_tiles::element::f4e2m1x2` does not convert to `f32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f4e2m1x2>(shape![8]).cast::<f32>();
    });
}
