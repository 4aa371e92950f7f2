//! Lesson 7: a pipeline, for rows that no tile holds.
//!
//!     cargo run --release --example 07_streamed_rows
//!
//! A softmax of long rows reads each of them twice. The kernel, in `kernels/src/lessons/streams.rs`, has a *producer* warp: it loads
//! tiles into a ring of stages while the *consumer* warps compute on earlier stages. `k_loop` lends the consumers each stage for one
//! step; `wait` and `release` let them hold a stage longer:
//!
//!     let loads = roles.tile_indices(RowMajor, [1, rows, 1]).flat_map(move |[_, i, _]| x.row(i).chain(x.row(i)));
//!     roles.pipeline(ring, loads, move |cx, mut consumer| {
//!         consumer.k_loop(columns).for_each(|stage| ...);
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
    // TMA loads rows that begin at multiples of 16 bytes.
    let mut x = Tensor::padded(&device, [ROWS, COLUMNS])?;
    x.copy_from_slice(&scores)?;
    let mut y = Tensor::poisoned(&device, [ROWS, COLUMNS])?;
    // The kernel is persistent: the blocks share the rows, and as many blocks as run at once are enough.
    streams::softmax_streamed.launch(&device, device.multiprocessors(), (&x, &mut y))?;

    for (scores, found) in scores.chunks(COLUMNS).zip(y.to_vec()?.chunks(COLUMNS)) {
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
        for (&score, &found) in scores.iter().zip(found) {
            let expected = f64::from(score).exp() / sum;
            assert!((f64::from(found) - expected).abs() <= 1e-4 * expected, "{found} instead of {expected}");
        }
    }
    println!("softmax of {ROWS} rows of {COLUMNS} numbers, streamed, on {device}");

    // TMA cannot load rows that begin anywhere. The launch says so.
    let packed = Tensor::<f32, 2>::zeros(&device, [ROWS, COLUMNS])?;
    let error = streams::softmax_streamed.launch(&device, 1, (&packed, &mut y)).unwrap_err();
    println!("packed rows: {error}");
    Ok(())
}
