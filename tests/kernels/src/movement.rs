//! Elements that move within a tile.

use crate::{Input, Output};
use cuda_tiles::prelude::*;

/// A matrix transposed by tiles of 64 x 64.
#[kernel(
    threads = 256,
    vector = 4,
    grid = 2,
    instances(<i8>, <f16>, <f32>, <f64>)
)]
pub fn transposes<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (u32, D<128>)>,
    y: Output<T, (D<128>, Mult<u32, 64>)>,
) {
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.partition(cx, shape![64, 64]);
    let y = y.partition(cx, shape![64, 64]);
    y.store(x.load((i, j)).transpose::<0, 1>(), (j, i));
}

/// A matrix transposed by tiles of 128 x 64.
#[kernel(threads = 256, vector = 4, grid = 2, instances(<f16>, <f32>))]
pub fn tall_transposes<T: Promote<T, Output = T>>(
    cx: Cx,
    x: Input<T, (u32, D<128>)>,
    y: Output<T, (D<128>, Mult<u32, 128>)>,
) {
    let (i, j) = (cx.bid::<0>(), cx.bid::<1>());
    let x = x.partition(cx, shape![128, 64]);
    let y = y.partition(cx, shape![64, 128]);
    y.store(x.load((i, j)).transpose::<0, 1>(), (j, i));
}
