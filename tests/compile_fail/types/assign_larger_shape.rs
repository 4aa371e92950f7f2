//! the result of this operation cannot take the place of the tile on the left

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let mut row = cx.zeros::<f32>(shape![1, 8]);
        row += cx.zeros::<f32>(shape![4, 8]);
    });
}
