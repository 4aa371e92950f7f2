//! is not a condition that `tile_assert!` can check

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| tile_assert!(cx, cx.ones::<f32>(shape![4])));
}
