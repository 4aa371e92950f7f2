//! this function of `f32` has no mode

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.ones::<f32>(shape![8]).exp_with(NearestEven);
    });
}
