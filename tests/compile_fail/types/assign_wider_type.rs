//! the result of this operation cannot take the place of the tile on the left

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let mut t = cx.zeros::<f32>(shape![8]);
        t *= cx.zeros::<f64>(shape![8]);
    });
}
