//! does not fill the message `cuda_tiles::stream::Staged<cuda_tiles::element::f16, (D<16>, D<32>)>` of the ring

use cuda_tiles::prelude::*;

#[kernel(copy = 32)]
fn of_another_shape(
    block: Split,
    x: TileSource<f16, Shape2<16, 16>>,
    #[shared] ring: Ring<Staged<f16, Shape2<16, 32>>, 3>,
) {
    block.pipeline(ring, x.row(0), |cx, receiver| drop((cx, receiver)));
}

#[kernel(copy = 32)]
fn of_another_type(
    block: Split,
    x: TileSource<bf16, Shape2<16, 32>>,
    #[shared] ring: Ring<Staged<f16, Shape2<16, 32>>, 3>,
) {
    block.pipeline(ring, x.row(0), |cx, receiver| drop((cx, receiver)));
}

#[kernel(copy = 32)]
fn of_one_for_two(
    block: Split,
    x: TileSource<f16, Shape2<16, 32>>,
    #[shared] ring: Ring<(Staged<f16, Shape2<16, 32>>, Staged<f16, Shape2<16, 32>>), 3>,
) {
    block.pipeline(ring, x.row(0), |cx, receiver| drop((cx, receiver)));
}

fn main() {}
