//! tile dimensions `D<64>` and `D<32>` do not broadcast

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![2, 64]) + cx.zeros::<f32>(shape![2, 32]);
    });
}
