//! a part is named by one index for each dimension of the tile

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).extract(shape![4, 4], [0]);
    });
}
