//! The ready-made kernels on the GPU: bandwidth of each, beside that of a plain copy.
//!
//! `cargo bench --bench gpu`, or the program itself on a machine without Rust. Prints one line a workload and writes
//! `--json FILE`. Every kernel is checked before it is timed, on random data and a poisoned output, against `f64`.
//!
//! Method: [`Timer`]'s, with inputs rotated over sets that together exceed the L2
//! cache several times, and the workloads' samples interleaved with those of the copy. Bytes are
//! those of each input read once and each output written once. `benches/peers.py` times the same kernels next to other
//! libraries.

use cuda_tiles_host::{Device, Grid, Launch, Result, Stream, Tensor, Timer};
use cuda_tiles_kernels::{reductions::row_sum, softmax::softmax, softmax::softmax_half, vector};
use cuda_tiles_suite::random::Random;
use half::f16;
use serde::Serialize;
use std::process::ExitCode;

/// Sets of tensors between which launches rotate.
const SETS: usize = 2;

/// One kernel on sets of data of its own.
struct Workload {
    name: &'static str,
    /// Bytes that a launch has to move.
    bytes: usize,
    /// Launches on set `k`.
    launch: Box<dyn FnMut(&Stream, usize) -> Result<()>>,
    /// The largest error of set 0's output relative to the largest value of the reference.
    check: Box<dyn Fn() -> Result<f64>>,
    tolerance: f64,
}

#[derive(Serialize)]
struct Row {
    workload: &'static str,
    unit: &'static str,
    ours: f64,
    ceiling: f64,
    ratio_to_ceiling: f64,
    error: f64,
}

/// Random numbers between -4 and 4.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| 4.0 * random.unit() as f32).collect()
}

fn seed() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64)
}

/// The largest difference, relative to the largest reference value.
fn error(found: impl IntoIterator<Item = f64>, wanted: &[f64]) -> f64 {
    let scale = wanted.iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
    found.into_iter().zip(wanted).fold(0.0, |most: f64, (found, wanted)| {
        let error = (found - wanted).abs() / scale;
        if error.is_nan() { f64::INFINITY } else { most.max(error) }
    })
}

fn vector_add(device: &Device) -> Result<Workload> {
    const COUNT: usize = 1 << 28;
    let (x, y) = (numbers(COUNT, seed()), numbers(COUNT, seed() + 1));
    let wanted: Vec<f64> = x.iter().zip(&y).map(|(x, y)| f64::from(x + y)).collect();
    let mut sets = Vec::new();
    for _ in 0..SETS {
        let (x, y) = (Tensor::from_slice(device, [COUNT], &x)?, Tensor::from_slice(device, [COUNT], &y)?);
        sets.push((x, y, Tensor::poisoned(device, [COUNT])?));
    }
    workload(
        "vadd_f32_2^28",
        12 * COUNT,
        0.0,
        sets,
        wanted,
        |stream, (x, y, z)| {
            vector::add::<f32, 4096>().launch_on(stream, Grid::cover([COUNT], [4096]), (&*x, &*y, z))
        },
        |(_, _, z)| z.to_vec().map(|z| z.into_iter().map(f64::from).collect()),
    )
}

/// Row softmax in f64.
fn softmax_reference(x: &[f32], columns: usize) -> Vec<f64> {
    x.chunks(columns)
        .flat_map(|row| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f64> = row.iter().map(|x| f64::from(x - most).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(move |power| power / sum)
        })
        .collect()
}

const ROWS: usize = 8192;

fn softmax_f32(device: &Device) -> Result<Workload> {
    let x = numbers(ROWS * 8192, seed());
    let wanted = softmax_reference(&x, 8192);
    let mut sets = Vec::new();
    for _ in 0..SETS + 1 {
        sets.push((Tensor::from_slice(device, [ROWS, 8192], &x)?, Tensor::poisoned(device, [ROWS, 8192])?));
    }
    workload(
        "softmax_f32_8192",
        8 * ROWS * 8192,
        1e-5,
        sets,
        wanted,
        |stream, (x, y)| softmax::<8192>().launch_on(stream, ROWS as u32, (&*x, y)),
        |(_, y)| y.to_vec().map(|y| y.into_iter().map(f64::from).collect()),
    )
}

fn softmax_f16(device: &Device) -> Result<Workload> {
    let x: Vec<f16> = numbers(ROWS * 8192, seed()).into_iter().map(f16::from_f32).collect();
    let wide: Vec<f32> = x.iter().map(|x| x.to_f32()).collect();
    let wanted = softmax_reference(&wide, 8192);
    let mut sets = Vec::new();
    for _ in 0..SETS + 1 {
        sets.push((Tensor::from_slice(device, [ROWS, 8192], &x)?, Tensor::poisoned(device, [ROWS, 8192])?));
    }
    workload(
        "softmax_f16_8192",
        4 * ROWS * 8192,
        1e-3,
        sets,
        wanted,
        |stream, (x, y)| softmax_half::<f16, 8192>().launch_on(stream, ROWS as u32, (&*x, y)),
        |(_, y)| y.to_vec().map(|y| y.into_iter().map(f64::from).collect()),
    )
}

fn row_sums(device: &Device) -> Result<Workload> {
    const COLUMNS: usize = 32768;
    let x: Vec<f32> = numbers(ROWS * COLUMNS, seed()).into_iter().map(|x| x + 0.5).collect();
    let wanted: Vec<f64> = x.chunks(COLUMNS).map(|row| row.iter().map(|&x| f64::from(x)).sum()).collect();
    let mut sets = Vec::new();
    for _ in 0..SETS {
        sets.push((Tensor::from_slice(device, [ROWS, COLUMNS], &x)?, Tensor::poisoned(device, [ROWS])?));
    }
    workload(
        "rowsum_f32_32768",
        4 * ROWS * COLUMNS,
        1e-5,
        sets,
        wanted,
        |stream, (x, sums)| row_sum::<8192>().launch_on(stream, ROWS as u32, (&*x, sums)),
        |(_, sums)| sums.to_vec().map(|sums| sums.into_iter().map(f64::from).collect()),
    )
}

/// Puts a workload together from its sets of tensors.
fn workload<S: 'static>(
    name: &'static str,
    bytes: usize,
    tolerance: f64,
    sets: Vec<S>,
    wanted: Vec<f64>,
    launch: impl Fn(&Stream, &mut S) -> Result<()> + 'static,
    output: impl Fn(&S) -> Result<Vec<f64>> + 'static,
) -> Result<Workload> {
    let sets = std::rc::Rc::new(std::cell::RefCell::new(sets));
    let checked = sets.clone();
    Ok(Workload {
        name,
        bytes,
        launch: Box::new(move |stream, k| {
            let mut sets = sets.borrow_mut();
            let set = k % sets.len();
            launch(stream, &mut sets[set])
        }),
        check: Box::new(move || Ok(error(output(&checked.borrow()[0])?, &wanted))),
        tolerance,
    })
}

/// The ceiling: `vector::copy` of 1 GiB.
fn copy(device: &Device) -> Result<Workload> {
    const COUNT: usize = 1 << 28;
    let x = numbers(COUNT, seed());
    let wanted: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let mut sets = Vec::new();
    for _ in 0..SETS {
        sets.push((Tensor::from_slice(device, [COUNT], &x)?, Tensor::poisoned(device, [COUNT])?));
    }
    workload(
        "copy_f32_2^28",
        8 * COUNT,
        0.0,
        sets,
        wanted,
        |stream, (x, y)| {
            vector::copy::<f32, 4096>().launch_on(stream, Grid::cover([COUNT], [4096]), (&*x, y))
        },
        |(_, y)| y.to_vec().map(|y| y.into_iter().map(f64::from).collect()),
    )
}

fn measure(device: &Device) -> Result<(Vec<Row>, usize)> {
    let stream = device.default_stream();
    let mut ceiling = copy(device)?;
    let (mut rows, mut failures) = (Vec::new(), 0);
    for make in [vector_add, softmax_f32, softmax_f16, row_sums] {
        let mut workload = make(device)?;
        for subject in [&mut ceiling, &mut workload] {
            (subject.launch)(&stream, 0)?;
            let error = (subject.check)()?;
            if error > subject.tolerance {
                println!("FAILED {}: error {error:e}, tolerated {:e}", subject.name, subject.tolerance);
                failures += 1;
            }
        }
        let error = (workload.check)()?;
        let mut turn = 0;
        let [copies, own] = Timer::new().compare(&stream, |which| {
            turn += 1;
            let subject = [&mut ceiling, &mut workload];
            (subject[which].launch)(&stream, turn)
        })?;
        let ours = own.rate(workload.bytes as f64) / 1e9;
        let ceiling = copies.rate(ceiling.bytes as f64) / 1e9;
        println!(
            "{:18} {:.3} of the copy: {ours:.0} GB/s, copy {ceiling:.0} GB/s, error {error:.1e}",
            workload.name,
            ours / ceiling
        );
        rows.push(Row {
            workload: workload.name,
            unit: "GB/s",
            ours,
            ceiling,
            ratio_to_ceiling: ours / ceiling,
            error,
        });
    }
    Ok((rows, failures))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    // `cargo test --benches` runs this program to see that it starts.
    if arguments.iter().any(|argument| argument == "--test") {
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
    let result = device.load(&cuda_tiles_suite::kernels::KERNELS).and_then(|()| measure(&device));
    match result {
        Ok((rows, failures)) => {
            if let Some(path) = arguments.iter().skip_while(|argument| *argument != "--json").nth(1) {
                let text = serde_json::to_string_pretty(&rows).expect("rows are plain data");
                if let Err(error) = std::fs::write(path, text + "\n") {
                    println!("FAILED: cannot write {path}: {error}");
                    return ExitCode::FAILURE;
                }
            }
            if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            println!("FAILED: {error}");
            ExitCode::FAILURE
        }
    }
}
