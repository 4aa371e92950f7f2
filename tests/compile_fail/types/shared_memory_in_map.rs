//! cannot be shared between threads safely

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        cx.shared::<u32, 4>(|memory| {
            _ = cx.ones::<u32>(shape![4]).map(move |x| memory.load(shape![1]).item() + x)
        });
    });
}
