//! elements of type `u8` cannot be added atomically in shared memory

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        cx.shared::<u8, 4>(|memory| memory.add(cx.zeros::<u32>(shape![4]), 1));
    });
}
