//! Lesson 1: a tensor, a launch, a result.
//!
//!     cargo run --example 01_vector_add
//!
//! The kernel, in `kernels/src/vector.rs`, adds one tile of two vectors in each block:
//!
//!     let i = cx.bid::<0>();
//!     z.store_masked(x.load_masked(Zero, i) + y.load_masked(Zero, i), i);

use cuda_tiles_host::{Device, Grid, Launch, Result, Tensor};
use cuda_tiles_kernels::vector;
use cuda_tiles_suite::kernels::KERNELS;

/// No multiple of anything: the last tile is partial.
const LENGTH: usize = 1_000_003;
/// Elements of a tile. The kernel is generic over it; `instances(...)` in its attribute lists what is compiled.
const TILE: usize = 4096;

fn main() -> Result<()> {
    // A GPU if there is one, else the CPU. CUDA_TILES_DEVICE=cpu chooses.
    let device = Device::auto()?;
    device.load(&KERNELS)?;

    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, [LENGTH], &numbers)?;
    let y = Tensor::full(&device, [LENGTH], 0.5_f32)?;
    let mut z = Tensor::zeros(&device, [LENGTH])?;

    // One block a tile. Read-only spans take `&tensor`, writable ones `&mut tensor`.
    vector::add::<f32, TILE>().launch(&device, Grid::cover([LENGTH], [TILE]), (&x, &y, &mut z))?;

    let sums = z.to_vec()?;
    assert!(sums.iter().zip(&numbers).all(|(sum, number)| *sum == number + 0.5));
    println!("added {LENGTH} numbers on {device}");
    Ok(())
}
