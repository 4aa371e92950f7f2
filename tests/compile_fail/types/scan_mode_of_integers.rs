//! sums, differences and products of `i32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<i32>(shape![8]).cumsum_rounded::<0>(Forward, TowardZero);
    });
}
