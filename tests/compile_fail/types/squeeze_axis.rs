//! axis 0 of a tile of shape `(D<8>, D<1>)` cannot be squeezed out

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 1]).squeeze::<0>();
    });
}
