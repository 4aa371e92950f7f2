//! lifetime may not live long enough

use cuda_tiles::prelude::*;

type Page = Staged<f16, Shape2<16, 16>>;

#[kernel(copy = 64)]
fn gives_back_to_another(
    block: Split,
    x: TileSource<f16, Shape2<16, 16>>,
    #[shared] left: Ring<Page, 3>,
    #[shared] right: Ring<Page, 3>,
) {
    block.pipelines((left, right), (x.row(0), x.row(1)), |cx, (mut left, mut right)| {
        let _ = cx;
        let held = left.receive();
        right.release(held);
    });
}

fn main() {}
