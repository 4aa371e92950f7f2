//! `i32` and `u32` have no common element type

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<i32>(shape![8]) + cx.zeros::<u32>(shape![8]);
    });
}
