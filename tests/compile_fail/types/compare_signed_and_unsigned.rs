//! `i8` and `u16` have no common element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<i8>(shape![8]).eq(cx.zeros::<u16>(shape![8]));
    });
}
