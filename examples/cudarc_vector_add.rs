//! A typed kernel on a stream and buffers of the crate `cudarc`.
//!
//!     cargo run --example cudarc_vector_add
//!
//! For programs that use `cudarc` already: the kernel is the same as in `01_vector_add`, and so are the checks of the launch; memory and
//! the stream are `cudarc`'s. There is no CPU here: without a driver the program says so and ends well, with CUDA_TILES_DEVICE=gpu it fails.

use cuda_tiles_host::cudarc::{CudarcTensor, CudarcTensorMut};
use cuda_tiles_host::{Device, Grid, Launch, Stream};
use cuda_tiles_kernels::vector;
use cuda_tiles_suite::kernels::KERNELS;
use cudarc::driver::CudaContext;
use std::error::Error;

const LENGTH: usize = 1_000_003;
const TILE: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    // Without a driver `cudarc` panics; this crate has an error for it.
    match Device::gpu(0) {
        Ok(_) => {}
        Err(error) if std::env::var_os("CUDA_TILES_DEVICE").is_none() => {
            println!("nothing done: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    }
    let context = CudaContext::new(0)?;
    let theirs = context.new_stream()?;
    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    let x = theirs.clone_htod(&numbers)?;
    let y = theirs.clone_htod(&vec![0.5_f32; LENGTH])?;
    let mut z = theirs.alloc_zeros::<f32>(LENGTH)?;

    let stream = Stream::from_cudarc(&theirs)?;
    stream.device().load(&KERNELS)?;

    // A buffer has a length; the kernel's spans have shapes, which these wrappers add.
    vector::add::<f32, TILE>().launch_on(
        &stream,
        Grid::cover([LENGTH], [TILE]),
        (
            CudarcTensor::new(&x, [LENGTH])?,
            CudarcTensor::new(&y, [LENGTH])?,
            CudarcTensorMut::new(&mut z, [LENGTH])?,
        ),
    )?;

    let sums = theirs.clone_dtoh(&z)?;
    assert!(sums.iter().zip(&numbers).all(|(sum, number)| *sum == number + 0.5));
    println!("added {LENGTH} numbers on cudarc's {}", context.name()?);
    Ok(())
}
