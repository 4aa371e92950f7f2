//! sums, differences and products of `f32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).sub_with(1.0, (TowardZero, TowardPositive));
    });
}
