//! A correct kernel, launched: what the misuses around it deviate from.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};

#[kernel(threads = 256)]
fn softmax(cx: Cx, x: Span<f32, (u32, D<64>)>, y: SpanMut<f32, (u32, D<64>)>) {
    let (x, y) = (x.partition(cx, shape![1, 64]), y.partition(cx, shape![1, 64]));
    let row = (cx.bid::<0>(), 0);
    let t = x.load(row);
    let e = (t - t.max::<1>()).exp();
    y.store(e / e.sum::<1>(), row);
}

fn main() -> Result<(), cuda_tiles_host::Error> {
    let device = Device::cpu();
    let x = Tensor::<f32, 2>::zeros(&device, [3, 64])?;
    let mut y = Tensor::<f32, 2>::poisoned(&device, [3, 64])?;
    softmax.launch(&device, 3, (&x, &mut y))?;
    assert_eq!(y.to_vec()?, [1.0 / 64.0; 3 * 64]);
    Ok(())
}
