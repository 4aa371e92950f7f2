//! has no axis 2

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 8]).sum_over(axes![0, 2]);
    });
}
