//! there are no random numbers of a range of `f32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| _ = Philox::new(cx, 0, 0).uniform_range(shape![4], 0, 0.0f32..=1.0));
}
