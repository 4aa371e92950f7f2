//! `i8` and `u16` have no common element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<i8, _>(shape![8]).eq(cx.zeros::<u16, _>(shape![8]));
    });
}
