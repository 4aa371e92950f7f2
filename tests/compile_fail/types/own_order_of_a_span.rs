//! `Longer` is not a type of cuda-tiles, and its traits are for no others

use cuda_tiles::prelude::*;
use cuda_tiles::span::AxisOrder;

/// Would give a span other extents than the tensor has.
struct Longer;

impl AxisOrder<(u32,)> for Longer {
    type Permuted = (u32,);
    type Axes = (D<0>,);
    fn permute(_: (u32,)) -> (u32,) {
        (1 << 31,)
    }
}

fn main() {}
