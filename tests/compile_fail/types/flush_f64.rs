//! sums, differences and products of `f64` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f64>(shape![8]).mul_with(2.0, FlushToZero);
    });
}
