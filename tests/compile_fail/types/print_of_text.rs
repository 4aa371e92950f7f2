//! `&str` cannot be printed from a kernel

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        tile_print!(cx, "{}", "text");
    });
}
