//! lifetime may not live long enough

use cuda_tiles::prelude::*;

type Page = SharedTile<f16, Shape2<16, 16>>;

#[kernel(producer = 64)]
fn gives_back_to_another(
    roles: WarpRoles,
    x: TmaLoad<f16, Shape2<16, 16>>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    roles.pipelines((left, right), (x.row(0), x.row(1)), |cx, (mut left, mut right)| {
        let _ = cx;
        let guard = left.wait();
        right.release(guard);
    });
}

fn main() {}
