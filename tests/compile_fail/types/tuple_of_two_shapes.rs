//! is not a tuple of tiles of one shape

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f32>(shape![8]), cx.zeros::<u32>(shape![16]));
        let _ = TileTuple::reduce::<0>((a, b), (0.0, 0), |a, _| a);
    });
}
