//! cannot be combined with the tile on the left

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).maximum(1u8);
    });
}
