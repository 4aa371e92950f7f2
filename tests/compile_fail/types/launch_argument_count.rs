//! the kernel takes the parameters

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};

#[kernel]
fn double(cx: Cx, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>, factor: f32) {
    let (x, y) = (x.partition(cx, shape![64]), y.partition(cx, shape![64]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i) * factor, i);
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    let device = Device::cpu();
    let x = Tensor::<f32, 1>::zeros(&device, [64])?;
    let mut y = Tensor::<f32, 1>::zeros(&device, [64])?;
    double.launch(&device, 1, (&x, &mut y))
}
