//! products of `cuda_tiles::element::f16` have no fast accumulation

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let a = cx.zeros::<f16>(shape![16, 16]);
        let _ = mma_with(a, a, cx.accumulators::<f32>(shape![16, 16]), FastAccumulation);
    });
}
