//! is unsafe and requires unsafe block

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| cx.simt(|thread| thread.index()));
}
