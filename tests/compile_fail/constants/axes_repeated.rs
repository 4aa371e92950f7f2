//! the axes of a reduction are different ones

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).sum_over(axes![1, 1]);
    });
}
