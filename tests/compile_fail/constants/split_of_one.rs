//! split: an axis of size 1 has no halves

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 1]).split::<1>();
    });
}
