//! take_along_axis: the index tile has the dimensions of the tile, but for the axis of the indices

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8, 4]).take_along_axis::<0>(cx.zeros::<i32>(shape![8, 8]));
    });
}
