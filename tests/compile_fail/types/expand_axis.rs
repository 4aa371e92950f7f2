//! a tile of shape `(D<8>,)` cannot be expanded at axis 3

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).expand_dims::<3>();
    });
}
