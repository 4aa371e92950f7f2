//! "call to unsafe function `Cx::<B>::simt` is unsafe"

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| cx.simt(|thread| thread.index()));
}
