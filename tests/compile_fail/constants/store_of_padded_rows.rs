//! the columns of a `TmaStore` tile may be `Padded`, its rows may not

use cuda_tiles::prelude::*;
use cuda_tiles::shape::Padded;
use cuda_tiles_host::{Device, Launch, Tensor};

#[kernel]
fn rows(cx: Cx, y: TmaStore<f16, (Padded<96>, D<64>)>) {
    let _ = (cx, y.rows());
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    let device = Device::cpu();
    rows.launch(&device, 1, (&mut Tensor::<f16, 2>::zeros(&device, [64, 64])?,))
}
