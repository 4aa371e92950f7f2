//! bitcast: tf32 has 19 bits, f4e2m1, i4 and u4 have 4

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f4e2m1>(shape![8]).bitcast::<u8>();
    });
}
