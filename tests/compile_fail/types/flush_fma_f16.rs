//! the fused multiply-add of `cuda_tiles::element::f16` has no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.zeros::<f16>(shape![8]);
        let _ = t.fma_with(t, t, (TowardZero, FlushToZero));
    });
}
