//! blocks that share a producer or a cluster load tiles of `TmaLoad`s: a kernel that streams tiles of spans has no `consumers` and no `cluster`

use cuda_tiles::prelude::*;

type Rows = Shape2<16, 16>;

#[kernel(threads = 128, producer = 128, consumers = 2, targets = warpgroups)]
fn shared(
    roles: WarpRoles,
    x: Span<f32, (u32, u32)>,
    #[shared] ring: Ring<SharedTile<f32, Rows>, 3>,
) {
    let loads = (0..4).map(move |i| x.tile(shape![16, 16], (i, 0)));
    roles.pipeline(ring, loads, |cx, mut consumer| {
        consumer.k_loop(4).for_each(|stage| _ = stage.load(cx));
    });
}

fn main() {}
