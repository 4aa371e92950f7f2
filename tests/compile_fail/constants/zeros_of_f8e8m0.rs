//! f8e8m0 has no zero

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f8e8m0>(shape![8]);
    });
}
