//! the text of tile_print! has one {} for each argument

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        tile_print!(cx, "{} and {}", cx.iota::<u32>(shape![4]));
    });
}
