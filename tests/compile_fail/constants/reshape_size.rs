//! reshape: the new shape must have as many elements as the tile

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 8]).reshape(shape![32]);
    });
}
