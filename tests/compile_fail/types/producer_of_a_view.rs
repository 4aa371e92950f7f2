//! the loads of a pipeline run in the producer warp, and can use `TmaLoad`s, `Span`s and numbers alone

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(producer = 32)]
fn by_view(
    roles: WarpRoles,
    x: TmaLoad<f16, Page>,
    order: SpanMut<u32, (u32,)>,
    #[shared] ring: Ring<SharedTile<f16, Page>, 3>,
) {
    let loads = (0..4).map(move |i| {
        let _ = &order;
        x.tile(i, 0)
    });
    roles.pipeline(ring, loads, |cx, mut consumer| {
        consumer.k_loop(4).for_each(|stage| _ = stage.load(cx));
    });
}

#[kernel(producer = 32)]
fn by_block(roles: WarpRoles, x: TmaLoad<f16, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 3>) {
    let row = roles.bid::<0>();
    let loads = (0..4).map(move |i| x.tile(*row, i));
    roles.pipeline(ring, loads, |cx, mut consumer| {
        consumer.k_loop(4).for_each(|stage| _ = stage.load(cx));
    });
}

fn main() {}
