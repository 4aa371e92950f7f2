//! Lesson 3: tensors whose sizes no tile divides.
//!
//!     cargo run --example 03_masked_edges
//!
//! The sizes of tiles are powers of two; tensors come in any size. `load_masked` takes a tile that reaches over the edge
//! and puts a padding in place of what is not there, `store_masked` leaves out what does not fit. Which padding is right
//! depends on what follows: for a maximum it is minus infinity. The kernel, in `kernels/src/lessons/tiles.rs`:
//!
//!     for column in 0..x.num_tiles(1) {
//!         so_far = so_far.maximum(x.load_masked(NegativeInfinity, (row, column)));
//!     }

use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};
use cuda_tiles_kernels::lessons::tiles;
use cuda_tiles_suite::kernels::KERNELS;

const ROWS: usize = 101;
const COLUMNS: usize = 1009;

fn main() -> Result<()> {
    let device = Device::auto()?;
    device.load(&KERNELS)?;

    // All numbers are negative: a padding of zero would win.
    let numbers: Vec<f32> = (0..ROWS * COLUMNS).map(|i| -1.0 - ((i * 31) % 977) as f32).collect();
    let x = Tensor::from_slice(&device, [ROWS, COLUMNS], &numbers)?;
    let mut largest = Tensor::zeros(&device, [ROWS])?;
    tiles::row_maximum.launch(&device, Grid::cover([ROWS], [8]), (&x, &mut largest))?;

    let expected: Vec<f32> =
        numbers.chunks(COLUMNS).map(|row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect();
    assert_eq!(largest.to_vec()?, expected);
    println!("maxima of {ROWS} rows of {COLUMNS} numbers on {device}");
    Ok(())
}
