//! The loop that everybody writes first, and the forms that follow from it: products in TFLOP/s, and kernels of which nothing is stated
//! beside the same kernels with stated alignment, in GB/s.
//!
//! `cargo bench --bench plain_loop`, or the program itself on a machine without Rust. Prints one line a workload. Every kernel is checked
//! on a poisoned output before it is timed. Products of whole numbers are exact; some elements of each row are compared.
//!
//! Method: events around back-to-back launches of at least 20 ms, the median of 7 samples.

use cuda_tiles_host::{Device, Grid, Launch, Result, Stream, Tensor};
use cuda_tiles_kernels::lessons::{alignment, products, streams};
use cuda_tiles_suite::random::Random;
use half::f16;
use std::process::ExitCode;
use std::time::Duration;

const SAMPLES: usize = 7;

/// The seconds of one launch.
fn seconds(stream: &Stream, launch: &mut dyn FnMut(&Stream) -> Result<()>) -> Result<f64> {
    let mut time = |launches: u32| -> Result<Duration> {
        let start = stream.record_event()?;
        for _ in 0..launches {
            launch(stream)?;
        }
        let end = stream.record_event()?;
        Ok(end.elapsed_since(&start)? / launches)
    };
    let one = time(2)?.as_secs_f64();
    let launches = (0.02 / one).ceil().max(1.0) as u32;
    let mut samples = (0..SAMPLES).map(|_| time(launches)).collect::<Result<Vec<_>>>()?;
    samples.sort();
    Ok(samples[SAMPLES / 2].as_secs_f64())
}

/// A matrix of whole numbers from -3 to 3.
fn whole(random: &mut Random, count: usize) -> Vec<f16> {
    (0..count).map(|_| f16::from_f32(random.below(7) as f32 - 3.0)).collect()
}

/// Measures the products of two square matrices.
fn square_products(device: &Device, size: usize) -> Result<usize> {
    let stream = device.default_stream();
    let mut random = Random::new(7);
    let (a, b) = (whole(&mut random, size * size), whole(&mut random, size * size));
    let x = Tensor::from_slice(device, [size, size], &a)?;
    let y = Tensor::from_slice(device, [size, size], &b)?;
    let mut failures = 0;
    let mut measure =
        |name: &str, launch: &dyn Fn(&Stream, &mut Tensor<f16, 2>) -> Result<()>| -> Result<()> {
            let mut c = Tensor::poisoned(device, [size, size])?;
            launch(&stream, &mut c)?;
            let found: Vec<f16> = c.to_vec()?;
            let mut column = 0;
            for row in 0..size {
                column = (column + 977) % size;
                let sum: f32 =
                    (0..size).map(|k| a[row * size + k].to_f32() * b[k * size + column].to_f32()).sum();
                if found[row * size + column] != f16::from_f32(sum) {
                    println!(
                        "FAILED {name} {size}: ({row}, {column}) is {} and not {sum}",
                        found[row * size + column]
                    );
                    failures += 1;
                    break;
                }
            }
            let time = seconds(&stream, &mut |stream| launch(stream, &mut c))?;
            println!("{name:24} {size:5}  {:7.1} TFLOP/s", 2.0 * (size as f64).powi(3) / time / 1e12);
            Ok(())
        };
    let grid = Grid::cover([size, size], [128, 128]);
    measure("gemm_loads", &|stream, c| products::gemm_loads.launch_on(stream, grid, (&x, &y, c)))?;
    measure("gemm_ahead 128", &|stream, c| {
        products::gemm_ahead::<128>().launch_on(stream, grid, (&x, &y, c))
    })?;
    measure("gemm_ahead_tma 128", &|stream, c| {
        products::gemm_ahead_tma::<128>().launch_on(stream, grid, (&x, &y, c))
    })?;
    if device.supports(products::gemm_ahead_tma::<256>().description())? {
        let wide = Grid::cover([size, size], [128, 256]);
        measure("gemm_ahead 256", &|stream, c| {
            products::gemm_ahead::<256>().launch_on(stream, wide, (&x, &y, c))
        })?;
        measure("gemm_ahead_tma 256", &|stream, c| {
            products::gemm_ahead_tma::<256>().launch_on(stream, wide, (&x, &y, c))
        })?;
        measure("gemm_streamed 256", &|stream, c| {
            products::gemm_streamed::<256>().launch_on(stream, 132, (&x, &y, c))
        })?;
    }
    Ok(failures)
}

/// Measures kernels that memory limits, with and without stated alignment.
fn bandwidths(device: &Device) -> Result<()> {
    const ROWS: usize = 16384;
    let stream = device.default_stream();
    for columns in [8192, 8000] {
        let bytes = 8.0 * (ROWS * columns) as f64;
        let x = Tensor::<f32, 2>::full(device, [ROWS, columns], 1.5)?;
        let mut y = Tensor::<f32, 2>::poisoned(device, [ROWS, columns])?;
        let grid = Grid::cover([ROWS, columns], [4, 1024]);
        let report = |name: &str, bytes: f64, time: f64| {
            println!("{name:24} {columns:5}  {:7.0} GB/s", bytes / time / 1e9);
        };
        let time =
            seconds(&stream, &mut |stream| alignment::scale_any.launch_on(stream, grid, (&x, &mut y)))?;
        report("scale, nothing stated", bytes, time);
        let time =
            seconds(&stream, &mut |stream| alignment::scale_stated.launch_on(stream, grid, (&x, &mut y)))?;
        report("scale, stated", bytes, time);
        let rows = Grid::cover([ROWS], [8]);
        let time =
            seconds(&stream, &mut |stream| streams::softmax_ahead.launch_on(stream, rows, (&x, &mut y)))?;
        report("softmax f32, ahead", bytes, time);
        let x = Tensor::<f16, 2>::full(device, [ROWS, columns], f16::ONE)?;
        let mut y = Tensor::<f16, 2>::poisoned(device, [ROWS, columns])?;
        let rows = ROWS as u32;
        let time =
            seconds(&stream, &mut |stream| alignment::softmax_any.launch_on(stream, rows, (&x, &mut y)))?;
        report("softmax f16, no word", bytes / 2.0, time);
        let time =
            seconds(&stream, &mut |stream| alignment::softmax_stated.launch_on(stream, rows, (&x, &mut y)))?;
        report("softmax f16, stated", bytes / 2.0, time);
    }
    Ok(())
}

fn measure(device: &Device) -> Result<usize> {
    let failures = square_products(device, 4096)? + square_products(device, 8192)?;
    bandwidths(device)?;
    Ok(failures)
}

fn main() -> ExitCode {
    // `cargo test --benches` runs this program to see that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let device = match Device::gpu(0) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped, as there is no GPU: {error}");
            return ExitCode::SUCCESS;
        }
    };
    println!("{device}");
    match device.load(&cuda_tiles_suite::kernels::KERNELS).and_then(|()| measure(&device)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}
