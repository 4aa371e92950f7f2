//! minimum and maximum of `i32` have no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<i32>(shape![8]).minimum_with(2, FlushToZero);
    });
}
