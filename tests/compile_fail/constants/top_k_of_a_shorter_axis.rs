//! top_k: more elements are asked for than the axis of the tile has

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).top_k::<0, 16>();
    });
}
