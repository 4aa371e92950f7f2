//! `f64` has no approximate functions

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f64>(shape![8]).exp_approximate();
    });
}
