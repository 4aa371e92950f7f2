//! `(D<1>, D<0>, D<2>)` is not an order of the axes of a tile of shape `(D<8>, D<4>)`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).permute(axes![1, 0, 2]);
    });
}
