//! A typed kernel on the context, the stream and the buffers of the crate `cust`.
//!
//!     cargo run --features cust --example cust_vector_add
//!
//! For programs that use `cust` already: the kernel is the same as in `01_vector_add`, and so are the checks of the
//! launch; memory and streams are `cust`'s. There is no CPU here: without a driver the program says so and ends well,
//! with CUDA_TILES_DEVICE=gpu it fails.

use cuda_tiles_host::Grid;
use cuda_tiles_host::cust::{CustKernels, CustTensor, CustTensorMut};
use cuda_tiles_kernels::vector;
use cuda_tiles_suite::kernels::KERNELS;
use cust::memory::{CopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use std::error::Error;

const LENGTH: usize = 1_000_003;
const TILE: usize = 4096;

fn main() -> Result<(), Box<dyn Error>> {
    let _context = match cust::quick_init() {
        Ok(context) => context,
        Err(error) if std::env::var_os("CUDA_TILES_DEVICE").is_none() => {
            println!("nothing done: cust finds no GPU ({error})");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let stream = Stream::new(StreamFlags::DEFAULT, None)?;
    let kernels = CustKernels::load(&[&KERNELS])?;

    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    let x = DeviceBuffer::from_slice(&numbers)?;
    let y = DeviceBuffer::from_slice(&vec![0.5_f32; LENGTH])?;
    let mut z = DeviceBuffer::<f32>::zeroed(LENGTH)?;

    // A buffer has a length; the kernel's spans have shapes, which these wrappers add.
    kernels.launch(
        vector::add::<f32, TILE>(),
        &stream,
        Grid::cover([LENGTH], [TILE]),
        (
            CustTensor::new(&x, [LENGTH])?,
            CustTensor::new(&y, [LENGTH])?,
            CustTensorMut::new(&mut z, [LENGTH])?,
        ),
    )?;

    let mut sums = vec![0.0; LENGTH];
    z.copy_to(&mut sums)?;
    assert!(sums.iter().zip(&numbers).all(|(sum, number)| *sum == number + 0.5));
    println!("added {LENGTH} numbers on cust's {}", cust::device::Device::get_device(0)?.name()?);
    Ok(())
}
