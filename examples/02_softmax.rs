//! Lesson 2: a tile that is a whole row, and reductions.
//!
//!     cargo run --example 02_softmax
//!
//! The kernel, in `kernels/src/softmax.rs`, loads a row into the registers of a block and keeps it there. A reduction
//! leaves its axis with size 1, so that its result broadcasts back:
//!
//!     let e = (t - t.max::<1>()).exp();
//!     y.store(e / e.sum::<1>(), row);

use cuda_tiles_host::{Device, Launch, Result, Tensor};
use cuda_tiles_kernels::softmax::softmax;
use cuda_tiles_suite::kernels::KERNELS;

const ROWS: usize = 300;
/// The length of a row is part of the kernel's type: a tensor with other rows is an error of the launch.
const COLUMNS: usize = 4096;

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;

    let scores: Vec<f32> = (0..ROWS * COLUMNS).map(|i| ((i * 7919) % 10007) as f32 / 1000.0).collect();
    let x = Tensor::from_slice(&device, [ROWS, COLUMNS], &scores)?;
    let mut y = Tensor::zeros(&device, [ROWS, COLUMNS])?;
    softmax::<COLUMNS>().launch(&device, ROWS as u32, (&x, &mut y))?;

    for (scores, found) in scores.chunks(COLUMNS).zip(y.to_vec()?.chunks(COLUMNS)) {
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
        for (&score, &found) in scores.iter().zip(found) {
            let expected = f64::from(score).exp() / sum;
            assert!((f64::from(found) - expected).abs() <= 1e-5 * expected, "{found} instead of {expected}");
        }
    }
    println!("softmax of {ROWS} rows of {COLUMNS} numbers on {device}");

    // What does not fit is refused before anything runs, in words.
    let short = Tensor::<f32, 2>::zeros(&device, [ROWS, 1000])?;
    let error = softmax::<COLUMNS>().launch(&device, ROWS as u32, (&short, &mut y)).unwrap_err();
    println!("rows of 1000 numbers: {error}");
    Ok(())
}
