//! a batch of `D<2>` matrices does not go into a multiplication with a batch of `D<4>`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let (a, b) = (cx.zeros::<f32>(shape![4, 4, 4]), cx.zeros::<f32>(shape![2, 4, 4]));
        let _ = mma(a, b, cx.zeros::<f32>(shape![4, 4, 4]));
    });
}
