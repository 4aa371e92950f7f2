//! A kernel of ours between two uses of a buffer by cubecl, the runtime below burn.
//!
//!     cargo run --release --manifest-path examples/cubecl/Cargo.toml
//!
//! The buffers are cubecl's: its client makes them, and reads the result. It lends their addresses by `get_resource`. cubecl-cuda 0.11 keeps its
//! streams to itself, so the launch is on a stream of ours, and each side waits for the other once: the client for what it was given
//! before, our stream before the client goes on. Both use the GPU's primary context, so addresses mean the same to both.

use std::error::Error;

use cubecl_core::future::block_on;
use cubecl_core::server::Handle;
use cubecl_cuda::{CudaDevice, CudaRuntime};
use cubecl_server::runtime::Runtime;
use cuda_tiles_host::{Device, Grid, Launch, Tensor};
use cuda_tiles_kernels::vector;

// Defines KERNELS, what the build script has compiled.
cuda_tiles_host::include_kernels!("cuda_tiles_kernels");

const LENGTH: usize = 1_000_003;
const TILE: usize = 4096;

/// cubecl's side of a GPU, for `get_resource`.
type Server = <CudaRuntime as Runtime>::Server;

fn main() -> Result<(), Box<dyn Error>> {
    // Without a driver cubecl panics; this crate has an error for it.
    let device = match Device::gpu(0) {
        Ok(device) => device,
        Err(error) if std::env::var_os("CUDA_TILES_DEVICE").is_none() => {
            println!("nothing done: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    device.load(&KERNELS)?;
    let client = CudaRuntime::client(&CudaDevice::new(0));
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    let x = client.create_from_slice(&bytes(&numbers));
    let y = client.create_from_slice(&bytes(&vec![0.5; LENGTH]));
    let z = client.empty(LENGTH * size_of::<f32>());

    // A resource keeps its memory where it is as long as it exists.
    let resource =
        |handle: &Handle| client.get_resource::<Server>(handle.clone()).map_err(|error| format!("{error:?}"));
    let resources = [resource(&x)?, resource(&y)?, resource(&z)?];
    block_on(client.sync()).map_err(|error| format!("{error:?}"))?;

    let stream = device.stream()?;
    let [x_address, y_address, z_address] = resources.each_ref().map(|of| of.resource().ptr as *mut f32);
    // SAFETY: each buffer has so many numbers: the client has written `x` and `y`, and any bits are numbers. `resources` keeps them, the
    // client is done with them, and uses them again only after the wait below. Nobody else has `z`.
    let (x, y, mut sums) = unsafe {
        (
            Tensor::borrowed(&stream, x_address, [LENGTH])?,
            Tensor::borrowed(&stream, y_address, [LENGTH])?,
            Tensor::borrowed(&stream, z_address, [LENGTH])?,
        )
    };
    vector::add::<f32, TILE>().launch_on(&stream, Grid::cover([LENGTH], [TILE]), (&x, &y, &mut sums))?;
    drop((x, y, sums));
    stream.synchronize()?;
    drop(resources);

    let sums = client.read_one(z).map_err(|error| format!("{error:?}"))?;
    let sums = sums.chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("of four bytes")));
    assert!(sums.zip(&numbers).all(|(sum, number)| sum == number + 0.5));
    println!("added {LENGTH} numbers in cubecl's buffers on {device}");
    Ok(())
}
