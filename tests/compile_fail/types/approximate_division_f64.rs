//! quotients of `f64` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f64>(shape![8]).div_with(3.0, Approximate);
    });
}
