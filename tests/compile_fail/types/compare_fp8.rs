//! tiles of `cuda_tiles::element::f8e4m3` have no order

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.zeros::<f8e4m3>(shape![8]);
        let _ = t.lt(t);
    });
}
