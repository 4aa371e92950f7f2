//! a tile does not broadcast to the smaller shape `(D<8>, D<1>)`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 8]).broadcast(shape![8, 1]);
    });
}
