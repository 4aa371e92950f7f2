//! quotients of `u32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<u32>(shape![8]).div_with(3, TowardPositive);
    });
}
