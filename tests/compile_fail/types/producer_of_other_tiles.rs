//! does not fill a stage `cuda_tiles::memory::SharedTile<cuda_tiles::element::f16, (D<16>, D<32>)>` of the ring

use cuda_tiles::prelude::*;

#[kernel(producer = 32)]
fn of_another_shape(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<16, 16>>,
    #[shared] ring: Ring<SharedTile<f16, Shape2<16, 32>>, 3>,
) {
    roles.pipeline(ring, x.row(0), |cx, consumer| drop((cx, consumer)));
}

#[kernel(producer = 32)]
fn of_another_type(
    roles: WarpRoles,
    x: TmaLoad<bf16, Shape2<16, 32>>,
    #[shared] ring: Ring<SharedTile<f16, Shape2<16, 32>>, 3>,
) {
    roles.pipeline(ring, x.row(0), |cx, consumer| drop((cx, consumer)));
}

#[kernel(producer = 32)]
fn of_one_for_two(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<16, 32>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<16, 32>>, SharedTile<f16, Shape2<16, 32>>), 3>,
) {
    roles.pipeline(ring, x.row(0), |cx, consumer| drop((cx, consumer)));
}

fn main() {}
