//! permute: the order must name each axis of the tile once

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).permute(axes![0, 0]);
    });
}
