//! there are no uniform or normal random numbers of type `i32`

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| _ = Philox::new(cx, 0, 0).uniform::<i32>(shape![4], 0));
}
