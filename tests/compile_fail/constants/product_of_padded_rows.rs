//! the columns of a product may be `Padded`, its rows and its contracted axis may not

use cuda_tiles::prelude::*;
use cuda_tiles::shape::Padded;

#[kernel]
fn kernel_under_test(cx: Cx) {
    let (a, b) = (cx.ones::<f16>((Padded::<96>, D::<32>)), cx.ones::<f16>(shape![32, 32]));
    let _ = mma(a, b, cx.zeros::<f32>((Padded::<96>, D::<32>)));
}

fn main() {}
