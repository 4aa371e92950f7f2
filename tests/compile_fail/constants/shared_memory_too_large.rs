//! a block has at most 48 KiB of static shared memory

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| cx.shared::<f64, 8192>(|memory| memory.fill(0.0)));
}
