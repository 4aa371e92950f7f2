//! cannot be joined with a tile of shape `(D<8>, D<4>)` and elements `f32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).cat::<0>(cx.zeros::<f32>(shape![4, 4]));
    });
}
