//! `Cell<i32>` cannot be shared between threads safely

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let seen = core::cell::Cell::new(0);
        let _ = cx.zeros::<i32>(shape![8]).map(|x| {
            seen.set(seen.get() + 1);
            x
        });
    });
}
