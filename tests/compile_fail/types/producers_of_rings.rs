//! cannot be filled by the loads
//! the loads of a pipeline run in the producer warp, and can use `TmaLoad`s, `Span`s and numbers alone

use cuda_tiles::prelude::*;

type Page = SharedTile<f16, Shape2<16, 16>>;

#[kernel(producer = 64)]
fn a_ring_without_a_tuple(roles: WarpRoles, x: TmaLoad<f16, Shape2<16, 16>>, #[shared] ring: Ring<Page, 3>) {
    roles.pipelines(ring, x.row(0), |_, _| ());
}

#[kernel(producer = 64)]
fn loads_that_use_a_view(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<16, 16>>,
    y: SpanMut<f16, (u32,)>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    let loads = (0..4).map(move |i| (y.extent(0), x.tile(0, i)).1);
    roles.pipelines((left, right), (x.row(0), loads), |_, _| ());
}

fn main() {}
