//! have no common element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f16>(shape![8]) + cx.zeros::<bf16>(shape![8]);
    });
}
