//! Thread-level kernels in the manner of Rust-CUDA, launched by `cust` as its own examples launch them.
//!
//!     cargo run --features cust --example cust_threads
//!
//! The kernels are in `tests/threads/`. The build script compiles them, and copies the PTX to a file that this program includes. Results
//! are compared with those of the same kernels on the CPU. Without a driver the program says so and ends well, with
//! CUDA_TILES_DEVICE=gpu it fails.

// The driver's functions for `cust`, on machines without a toolkit.
use cuda_tiles_host as _;

use cuda_tiles::cuda_std::cpu;
use cuda_tiles_test_threads::collectives::{WARP_RESULTS, functions, warp_functions};
use cuda_tiles_test_threads::gemm::TILE;
use cuda_tiles_test_threads::hash::sha256_oneshot;
use cust::function::{BlockSize, GridSize};
use cust::launch;
use cust::memory::{CopyDestination, DeviceBox, DeviceBuffer};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use std::error::Error;

static PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/threads.ptx"));

const LENGTH: usize = 100_003;

fn main() -> Result<(), Box<dyn Error>> {
    let _context = match cust::quick_init() {
        Ok(context) => context,
        Err(error) if std::env::var_os("CUDA_TILES_DEVICE").is_none() => {
            println!("nothing done: cust finds no GPU ({error})");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let module = Module::from_ptx(PTX, &[])?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    add(&module, &stream)?;
    multiply(&module, &stream)?;
    hash(&module, &stream)?;
    meet(&module, &stream)?;
    println!("all kernels agree with the CPU on cust's {}", cust::device::Device::get_device(0)?.name()?);
    Ok(())
}

/// Vectors, and an empty one, whose buffer has a null pointer.
fn add(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let numbers: Vec<f32> = (0..LENGTH).map(|i| i as f32).collect();
    for length in [LENGTH, 0] {
        let a = DeviceBuffer::from_slice(&numbers[..length])?;
        let b = DeviceBuffer::from_slice(&vec![0.5_f32; length])?;
        let c = DeviceBuffer::from_slice(&vec![-1.0_f32; length])?;
        let vecadd = module.get_function("vecadd")?;
        let (_, threads) = vecadd.suggested_launch_configuration(0, 0.into())?;
        let blocks = (length as u32).div_ceil(threads).max(1);
        // SAFETY: a slice is a pointer and a length, and the buffers have room for the results.
        unsafe {
            launch!(vecadd<<<blocks, threads, 0, stream>>>(
                a.as_device_ptr(), a.len(), b.as_device_ptr(), b.len(), c.as_device_ptr()
            ))?;
        }
        stream.synchronize()?;
        let mut sums = vec![0.0; length];
        c.copy_to(&mut sums)?;
        assert!(sums.iter().zip(&numbers).all(|(sum, number)| *sum == number + 0.5));
    }
    Ok(())
}

/// Both products of matrices, and sums over blocks.
fn multiply(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let (m, n, k) = (70_usize, 90_usize, 50_usize);
    let number = |i: usize| (i * 7 % 11) as f32 - 5.0;
    let a: Vec<f32> = (0..m * k).map(number).collect();
    let b: Vec<f32> = (0..k * n).map(|i| number(i + 3)).collect();
    let (on_a, on_b) = (DeviceBuffer::from_slice(&a)?, DeviceBuffer::from_slice(&b)?);
    let grid = GridSize::xy(m.div_ceil(TILE) as u32, n.div_ceil(TILE) as u32);
    let block = BlockSize::xy(TILE as u32, TILE as u32);
    for name in ["gemm_naive", "gemm_tiled"] {
        let c = DeviceBuffer::from_slice(&vec![2.0_f32; m * n])?;
        let gemm = module.get_function(name)?;
        // SAFETY: the matrices have these sizes.
        unsafe {
            launch!(gemm<<<grid, block, 0, stream>>>(
                on_a.as_device_ptr(), on_a.len(), on_b.as_device_ptr(), on_b.len(), c.as_device_ptr(), m, n, k, 2.0_f32, -0.5_f32
            ))?;
        }
        stream.synchronize()?;
        let mut result = vec![0.0; m * n];
        c.copy_to(&mut result)?;
        for (i, result) in result.iter().enumerate() {
            let product: f32 = (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum();
            assert_eq!(*result, 2.0 * product - 1.0, "{name}, element {i}");
        }
    }
    let total = DeviceBox::new(&0.0_f32)?;
    // SAFETY: blocks have 256 threads, and an atomic number lies in memory as a number.
    unsafe {
        launch!(module.sum<<<3, 256, 0, stream>>>(on_a.as_device_ptr(), on_a.len(), total.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let mut sum = 0.0;
    total.copy_to(&mut sum)?;
    assert_eq!(sum, a.iter().sum::<f32>());
    Ok(())
}

/// A hash, compared with the CPU's.
fn hash(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    let text: Vec<u8> = (0..1000).map(|i| (i * i) as u8).collect();
    let mut expected = [0_u8; 32];
    let place = &raw mut expected;
    // SAFETY: there is room for the hash.
    unsafe { cpu::launch(1, 1, 0, || sha256_oneshot(&text, place)) };
    let input = DeviceBuffer::from_slice(&text)?;
    let output = DeviceBuffer::from_slice(&[0_u8; 32])?;
    // SAFETY: as above.
    unsafe {
        launch!(module.sha256_oneshot<<<2, 64, 0, stream>>>(input.as_device_ptr(), input.len(), output.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let mut hash = [0; 32];
    output.copy_to(&mut hash)?;
    assert_eq!(hash, expected);
    Ok(())
}

/// Functions of warps, shared memory that the launch asks for, and functions of floats.
fn meet(module: &Module, stream: &Stream) -> Result<(), Box<dyn Error>> {
    const THREADS: u32 = 96;
    let mut expected = vec![0_u64; THREADS as usize * WARP_RESULTS];
    let place = expected.as_mut_ptr();
    // SAFETY: there is room for the results of all threads.
    unsafe { cpu::launch(1, THREADS, 0, || warp_functions(place)) };
    let results = DeviceBuffer::from_slice(&vec![0_u64; expected.len()])?;
    let numbers: Vec<i32> = (0..THREADS as i32).collect();
    let reversed = DeviceBuffer::from_slice(&numbers)?;
    let x: Vec<f32> = (1..200).map(|i| i as f32 / 16.0).collect();
    let (mut y, on_x) = (vec![0.0_f32; x.len()], DeviceBuffer::from_slice(&x)?);
    let place = y.as_mut_ptr();
    // SAFETY: as above.
    unsafe { cpu::launch(2, 128, 0, || functions(&x, place)) };
    let on_y = DeviceBuffer::from_slice(&vec![0.0_f32; x.len()])?;
    // SAFETY: as above; the shared memory holds as many numbers as there are threads.
    unsafe {
        launch!(module.warp_functions<<<1, THREADS, 0, stream>>>(results.as_device_ptr()))?;
        launch!(module.reverse<<<1, THREADS, 4 * THREADS, stream>>>(reversed.as_device_ptr()))?;
        launch!(module.functions<<<2, 128, 0, stream>>>(on_x.as_device_ptr(), on_x.len(), on_y.as_device_ptr()))?;
    }
    stream.synchronize()?;
    let (mut found, mut back, mut on_gpu) =
        (vec![0; expected.len()], vec![0; numbers.len()], vec![0.0; x.len()]);
    results.copy_to(&mut found)?;
    reversed.copy_to(&mut back)?;
    on_y.copy_to(&mut on_gpu)?;
    assert_eq!(found, expected);
    assert!(back.iter().rev().eq(&numbers));
    assert!(y.iter().zip(&on_gpu).all(|(cpu, gpu)| (cpu - gpu).abs() < 1e-5));
    Ok(())
}
