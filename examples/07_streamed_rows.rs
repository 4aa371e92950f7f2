//! Lesson 7: tiles that stream, for rows that no tile holds.
//!
//!     cargo run --release --example 07_streamed_rows
//!
//! A softmax of long rows reads each of them twice. The kernel, in `kernels/src/lessons/streams.rs`, says in a *feed* which
//! tiles it will want, in order; they are copied into a ring of stages while it computes on earlier ones. `each` lends
//! the stage of a step, `receive` and `release` hand one out for longer:
//!
//!     let feed = roles.tile_indices(RowMajor, [1, rows, 1]).flat_map(move |[_, i, _]| x.row(i).chain(x.row(i)));
//!     roles.pipeline(ring, feed, move |cx, mut receiver| {
//!         receiver.k_loop(columns).for_each(|stage| ...);
//!     });

use cuda_tiles_host::{Device, Launch, Result, Tensor};
use cuda_tiles_kernels::lessons::streams;
use cuda_tiles_suite::kernels::KERNELS;

const ROWS: usize = 77;
const COLUMNS: usize = 20_011;

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;

    let scores: Vec<f32> = (0..ROWS * COLUMNS).map(|i| ((i * 7919) % 10_007) as f32 / 1000.0).collect();
    // What streams has rows that begin at multiples of 16 bytes.
    let mut x = Tensor::padded(&device, [ROWS, COLUMNS])?;
    x.copy_from_slice(&scores)?;
    let mut y = Tensor::poisoned(&device, [ROWS, COLUMNS])?;
    // The blocks share the rows: as many as run at once are enough.
    streams::softmax_streamed.launch(&device, device.multiprocessors(), (&x, &mut y))?;

    for (scores, found) in scores.chunks(COLUMNS).zip(y.to_vec()?.chunks(COLUMNS)) {
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
        for (&score, &found) in scores.iter().zip(found) {
            let expected = f64::from(score).exp() / sum;
            assert!((f64::from(found) - expected).abs() <= 1e-4 * expected, "{found} instead of {expected}");
        }
    }
    println!("softmax of {ROWS} rows of {COLUMNS} numbers, streamed, on {device}");

    // Rows that begin anywhere cannot be streamed, which the launch says.
    let packed = Tensor::<f32, 2>::zeros(&device, [ROWS, COLUMNS])?;
    let error = streams::softmax_streamed.launch(&device, 1, (&packed, &mut y)).unwrap_err();
    println!("packed rows: {error}");
    Ok(())
}
