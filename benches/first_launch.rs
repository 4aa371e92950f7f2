//! How long a process waits for its first result: opening the GPU, loading, and the first launch of one kernel with its wait.
//!
//! `cargo bench --bench first_launch -- KERNEL`, or the program itself on a machine without Rust; with the feature `gemm` that is one of
//! the kernels too. Without a name it lists them. A process measures one kernel, since what was opened or compiled once is there.
//! `CUDA_CACHE_DISABLE=1` keeps the driver from finding the kernel on disk, `CUDA_TILES_MACHINE_CODE=off` leaves the PTX to its compiler.
//!
//! Each line is a name, a tab, and milliseconds. The driver's own: `init` (it starts) and `context` (it makes the GPU's). Ours: `open` (the
//! rest of opening the GPU), `load` (of the artifact, no kernel of it), `ready` (the kernel's code is unpacked, handed to the driver and
//! found; only for kernels that are launched by themselves), `first` (launch and wait), `total` (the sum of ours). Besides `data` (the
//! operands, which are no part of the question) and `second` (the same launch again). The last line is `code`, a tab, and how the code came
//! to the GPU.

use cuda_tiles::launch::Description;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Launch, Result, Tensor};
use cuda_tiles_kernels::attention::attention;
use cuda_tiles_kernels::lessons::products::gemm_streamed;
use cuda_tiles_kernels::{reductions::row_sum, softmax::softmax, vector};
use cuda_tiles_suite::kernels::KERNELS;
use cudarc::driver::{CudaContext, DriverError};
use std::process::ExitCode;
use std::time::Instant;

/// A launch that is ready, and the kernel, if no function chooses it.
struct Ready {
    launch: Box<dyn FnMut() -> Result<()>>,
    kernel: Option<&'static Description>,
}

/// Makes the operands of a kernel.
type Prepare = fn(&Device) -> Result<Ready>;

const WORKLOADS: &[(&str, Prepare)] = &[
    ("add", prepare_add),
    ("softmax", prepare_softmax),
    ("row_sum", prepare_row_sum),
    ("gemm_streamed", prepare_gemm_streamed),
    ("attention", prepare_attention),
    #[cfg(feature = "gemm")]
    ("gemm", prepare_gemm),
];

/// Rows of each matrix, and columns.
const SIDE: usize = 4096;

fn prepare_add(device: &Device) -> Result<Ready> {
    let ones = || Tensor::full(device, [SIDE * SIDE], 1.0_f32);
    let (x, y, mut z, device) = (ones()?, ones()?, ones()?, device.clone());
    let kernel = vector::add::<f32, 4096>();
    let launch = move || kernel.launch(&device, SIDE, (&x, &y, &mut z));
    Ok(Ready { launch: Box::new(launch), kernel: Some(kernel.description()) })
}

fn prepare_softmax(device: &Device) -> Result<Ready> {
    let x = Tensor::full(device, [SIDE, 8192], 1.0_f32)?;
    let (mut y, device) = (Tensor::poisoned(device, [SIDE, 8192])?, device.clone());
    let kernel = softmax::<8192>();
    let launch = move || kernel.launch(&device, SIDE, (&x, &mut y));
    Ok(Ready { launch: Box::new(launch), kernel: Some(kernel.description()) })
}

fn prepare_row_sum(device: &Device) -> Result<Ready> {
    let x = Tensor::full(device, [SIDE, 32768], 1.0_f32)?;
    let (mut sums, device) = (Tensor::poisoned(device, [SIDE])?, device.clone());
    let kernel = row_sum::<8192>();
    let launch = move || kernel.launch(&device, SIDE, (&x, &mut sums));
    Ok(Ready { launch: Box::new(launch), kernel: Some(kernel.description()) })
}

fn prepare_gemm_streamed(device: &Device) -> Result<Ready> {
    let ones = || Tensor::full(device, [SIDE, SIDE], f16::ONE);
    let (a, b, mut c, device) = (ones()?, ones()?, ones()?, device.clone());
    let (kernel, blocks) = (gemm_streamed::<128>(), device.multiprocessors());
    let launch = move || kernel.launch(&device, blocks, (&a, &b, &mut c));
    Ok(Ready { launch: Box::new(launch), kernel: Some(kernel.description()) })
}

fn prepare_attention(device: &Device) -> Result<Ready> {
    let ones = || Tensor::full(device, [32, SIDE, 128], f16::ONE);
    let (q, k, v, mut out) = (ones()?, ones()?, ones()?, ones()?);
    let launch = move || attention(&q, &k, &v, &mut out, 0.1, false);
    Ok(Ready { launch: Box::new(launch), kernel: None })
}

#[cfg(feature = "gemm")]
fn prepare_gemm(device: &Device) -> Result<Ready> {
    let ones = || Tensor::full(device, [SIDE, SIDE], f16::ONE);
    let (a, b, mut c) = (ones()?, ones()?, ones()?);
    let launch = move || cuda_tiles_kernels::gemm::gemm(&a, &b, &mut c);
    Ok(Ready { launch: Box::new(launch), kernel: None })
}

/// Does something, and prints how many milliseconds it took.
fn timed<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let result = work()?;
    let milliseconds = 1e3 * start.elapsed().as_secs_f64();
    println!("{name}\t{milliseconds:.3}");
    Ok((result, milliseconds))
}

fn measure(prepare: Prepare) -> Result<()> {
    // What `Device::gpu` begins with. The driver keeps both, so that it finds them done.
    let driver = |error: DriverError| Error::NoDriver { reason: error.to_string() };
    timed("init", || cudarc::driver::result::init().map_err(driver))?;
    let (_context, _) = timed("context", || CudaContext::new(0).map_err(driver))?;
    let (device, open) = timed("open", || Device::gpu(0))?;
    let ((), load) = timed("load", || device.load(&KERNELS))?;
    let (Ready { mut launch, kernel }, _) = timed("data", || {
        let ready = prepare(&device)?;
        device.synchronize()?;
        Ok(ready)
    })?;
    let mut total = open + load;
    if let Some(kernel) = kernel {
        total += timed("ready", || device.warm_up_kernels(&[kernel], |_| ()))?.1;
    }
    let mut once = || {
        launch()?;
        device.synchronize()
    };
    let ((), first) = timed("first", &mut once)?;
    timed("second", once)?;
    println!("total\t{:.3}", total + first);
    if let Some(code) = kernel.map(|kernel| device.code_of(kernel)).transpose()?.flatten() {
        println!("code\t{code}");
    }
    Ok(())
}

fn main() -> ExitCode {
    let named = |name: &String| WORKLOADS.iter().find(|(known, _)| known == name);
    let Some((_, prepare)) = std::env::args().skip(1).find_map(|argument| named(&argument)) else {
        WORKLOADS.iter().for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    match measure(*prepare) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}
