//! each ring of a pipeline has a producer warp: state `producer = 64` for two rings, `producer = 96` for three, or `producer = 128`

use cuda_tiles::prelude::*;

type Page = SharedTile<f16, Shape2<16, 16>>;

#[kernel(producer = 32)]
fn two_rings_and_one_warp(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<16, 16>>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    roles.pipelines((left, right), (x.row(0), x.row(1)), |cx, consumers| drop((cx, consumers)));
}

fn main() {}
