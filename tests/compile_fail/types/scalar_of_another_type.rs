//! cannot multiply

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]) * 2.0f64;
    });
}
