//! this function of `f64` has no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f64>(shape![8]).rsqrt_with(FlushToZero);
    });
}
