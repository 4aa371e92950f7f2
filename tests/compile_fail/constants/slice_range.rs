//! slice: the range must lie within the axis of the tile

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).slice::<0, 6, 4>();
    });
}
