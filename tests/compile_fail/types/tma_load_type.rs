//! `&Tensor<f32, 2>` cannot be passed for the kernel's parameter `cuda_tiles::memory::TmaLoad<cuda_tiles_host::f16, (D<64>, D<64>)>`

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};

#[kernel]
fn rows(cx: Cx, x: TmaLoad<f16, Shape2<64, 64>>) {
    let _ = (cx, x.rows());
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    let device = Device::cpu();
    let x = Tensor::<f32, 2>::zeros(&device, [64, 64])?;
    rows.launch(&device, 1, (&x,))
}
