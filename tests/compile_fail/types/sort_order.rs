//! is not the order of a sort

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).sort_with::<0>(Backward);
    });
}
