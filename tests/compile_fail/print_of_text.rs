//! "`&str` is not an element type of tiles", with a note that names what can be printed

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        tile_print!(cx, "{}", "text");
    });
}
