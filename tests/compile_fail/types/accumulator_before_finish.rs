//! mismatched types
//! cannot add `{float}` to `Accumulator<f32, (D<16>, D<16>), KernelBlock>`

use cuda_tiles::prelude::*;

type Page = Shape2<16, 16>;

#[kernel(producer = 32)]
fn reads(roles: WarpRoles, x: TmaLoad<f16, Page>, y: TmaStore<f32, Page>, #[shared] ring: Ring<SharedTile<f16, Page>, 3>) {
    roles.pipeline(ring, x.row(0), move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor) {
            let mut acc = cx.zero_accumulator::<f32>(shape![16, 16]);
            consumer.k_loop(1).for_each(|a| acc.mma(a, a));
            tile.store_directly(acc);
            let _ = acc + 1.0;
        }
    });
}

fn main() {}
