//! transposed_in_place swaps the last two axes of the tile: use transpose for others

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![2, 8, 4]).transposed_in_place::<0, 1>();
    });
}
