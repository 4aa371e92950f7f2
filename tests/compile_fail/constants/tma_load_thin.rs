//! the rows of a `TmaLoad` or `TmaStore` tile are at least 16 bytes long: use tiles of more columns

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};

#[kernel]
fn rows(cx: Cx, x: TmaLoad<f16, Shape2<64, 4>>) {
    let _ = (cx, x.rows());
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    let device = Device::cpu();
    rows.launch(&device, 1, (&Tensor::<f16, 2>::zeros(&device, [64, 64])?,))
}
