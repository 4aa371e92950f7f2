//! Lesson 8: a product on several GPUs, whose sum is on its way while the next rows are multiplied.
//!
//!     cargo run --release --example 08_several_gpus
//!
//! Each rank has some columns of `a` and the rows of `b` that they meet, as the layers of a large model are divided. Its product has the
//! right shape, but is one summand of several: the ranks add theirs up by an all-reduce. One stream multiplies a few rows at a time,
//! another one adds them up. The tensors see to the order: the sum of rows waits for their product, and the product of the next rows for
//! nothing. On the CPU four threads are the ranks, and all happens one after the other.

use std::thread;
use std::time::{Duration, Instant};

use cuda_tiles_host::collectives::{CollectiveError, Communicator, Reduction};
use cuda_tiles_host::{Device, Grid, Launch, Stream, Tensor, f16};
use cuda_tiles_kernels::lessons::products;
use cuda_tiles_suite::kernels::KERNELS;

/// The rows are multiplied in so many pieces.
const PIECES: usize = 8;

/// No call and no work takes longer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A product of `rows` x `inner` and `inner` x `columns` elements.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
    inner: usize,
}

fn main() -> Result<(), CollectiveError> {
    let (devices, size) = if Device::auto()?.is_gpu() {
        let gpus = (0..Device::gpu_count()).map(Device::gpu).collect::<Result<Vec<_>, _>>()?;
        (gpus, Size { rows: 8192, columns: 8192, inner: 8192 })
    } else {
        (vec![Device::cpu(); 4], Size { rows: 8 * 16, columns: 64, inner: 128 })
    };
    println!("{} ranks, the first on {}", devices.len(), devices[0]);
    let ranks = Communicator::all(&devices, TIMEOUT)?;
    thread::scope(|scope| {
        let threads: Vec<_> = ranks.iter().map(|rank| scope.spawn(move || run(rank, size))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a rank does not panic"))
    })
}

/// What one rank does.
fn run(rank: &Communicator, size: Size) -> Result<(), CollectiveError> {
    let device = rank.device();
    device.load(&KERNELS)?;
    let Size { rows, columns, inner } = size;
    let own = inner / rank.world_size();
    let first = rank.rank() * own;
    let a: Vec<f16> = (0..rows * own).map(|at| element_of_a(at / own, first + at % own)).collect();
    let b: Vec<f16> = (0..own * columns).map(|at| element_of_b(first + at / columns, at % columns)).collect();
    let a = Tensor::from_slice(device, [rows, own], &a)?;
    let b = Tensor::from_slice(device, [own, columns], &b)?;
    // A tensor for each piece: the stream that adds up one piece has no use of the others.
    let piece = || Tensor::zeros(device, [rows / PIECES, columns]);
    let mut c = (0..PIECES).map(|_| piece()).collect::<Result<Vec<_>, _>>()?;

    let (multiply, add_up) = (device.stream()?, device.stream()?);
    for (manner, second) in
        [("first", &add_up), ("one after the other", &multiply), ("at the same time", &add_up)]
    {
        device.synchronize()?;
        let start = Instant::now();
        product(rank, &multiply, second, &a, &b, &mut c)?;
        rank.synchronize(&multiply)?;
        rank.synchronize(second)?;
        if rank.rank() == 0 && manner != "first" {
            println!("product and sum {manner}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        }
    }

    // All ranks have the whole product now.
    for (number, piece) in c.iter().enumerate() {
        let row = number * rows / PIECES;
        let found = piece.view().slice(0, 0..1)?.to_vec()?;
        for (column, &found) in found.iter().enumerate().step_by(7) {
            let terms = (0..inner).map(|k| element_of_a(row, k).to_f32() * element_of_b(k, column).to_f32());
            let expected: f32 = terms.sum();
            assert!(
                (found.to_f32() - expected).abs() <= 1.0,
                "({row}, {column}): {found} and not {expected}"
            );
        }
    }
    Ok(())
}

/// Multiplies piece by piece on one stream, and adds the pieces of all ranks up on another.
fn product(
    rank: &Communicator,
    multiply: &Stream,
    add_up: &Stream,
    a: &Tensor<f16, 2>,
    b: &Tensor<f16, 2>,
    c: &mut [Tensor<f16, 2>],
) -> Result<(), CollectiveError> {
    let rows = a.shape()[0] / PIECES;
    for (number, c) in c.iter_mut().enumerate() {
        let a = a.view().slice(0, number * rows..(number + 1) * rows)?;
        products::gemm_ahead::<128>().launch_on(
            multiply,
            Grid::cover(c.shape(), [128, 128]),
            (a, b, &mut *c),
        )?;
        // It waits for this product, which the tensor knows of; the next one does not wait for it.
        rank.all_reduce_in_place(add_up, Reduction::Sum, c)?;
    }
    Ok(())
}

/// Small whole numbers, whose products and sums are exact.
fn element_of_a(row: usize, k: usize) -> f16 {
    f16::from_f32(((row * 5 + k * 7) % 3) as f32 - 1.0)
}

fn element_of_b(k: usize, column: usize) -> f16 {
    f16::from_f32(((k * 11 + column * 3 + k / 7) % 3) as f32 - 1.0)
}
