//! Lesson 6: a kernel and its test in one file, on the CPU. No PTX and no build script is needed for that.
//!
//! `cargo run --example 06_without_a_gpu`

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Grid, Launch, Tensor};

/// The largest element of each row, for rows of any length; a block takes 8 rows.
#[kernel]
fn row_maximum(cx: Cx, x: Span<f32, (u32, u32)>, largest: SpanMut<f32, (u32,)>) {
    let (x, largest) = (x.partition(cx, shape![8, 256]), largest.partition(cx, shape![8]));
    let rows = cx.bid::<0>();
    let mut so_far = cx.full(shape![8, 256], f32::NEG_INFINITY);
    for column in 0..x.num_tiles(1) {
        so_far = so_far.maximum(x.load_masked(NegativeInfinity, (rows, column)));
    }
    largest.store_masked(so_far.max::<1>().reshape(shape![8]), rows);
}

fn main() -> cuda_tiles_host::Result<()> {
    let cpu = Device::cpu();
    let numbers: Vec<f32> = (0..101 * 1009).map(|i| -((i * 31 % 977) as f32)).collect();
    let x = Tensor::from_slice(&cpu, [101, 1009], &numbers)?;
    let mut largest = Tensor::poisoned(&cpu, [101])?;
    row_maximum.launch(&cpu, Grid::cover([101], [8]), (&x, &mut largest))?;
    let expected: Vec<f32> =
        numbers.chunks(1009).map(|row| row.iter().copied().fold(f32::MIN, f32::max)).collect();
    assert_eq!(largest.to_vec()?, expected);

    // What does not fit is refused before anything runs, in words.
    let mut short = Tensor::<f32, 1>::zeros(&Device::cpu(), [101])?;
    let error = row_maximum.launch(&cpu, (13, 2), (&x, &mut short)).unwrap_err();
    assert!(error.to_string().starts_with("kernel `row_maximum` cannot run on the grid (13, 2, 1)"));
    Ok(())
}
