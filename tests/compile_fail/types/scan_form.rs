//! is not a form of a scan

use cuda_tiles::prelude::*;

fn main() {
    cuda_tiles::cpu::block(|cx| {
        let _ = cx.zeros::<f32>(shape![8]).cumsum_with::<0>((Forward, Backward));
    });
}
