//! The CPU back end against plain Rust: each kernel next to slices and rayon doing the same thing.
//!
//! `cargo bench --bench cpu`. The CPU path is to stay within three times the plain code. Both use the same number of
//! threads, and the times leave out allocation and the making of the data.

use criterion::{
    BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use cuda_tiles_host::{Device, Grid, Launch, Tensor};
use cuda_tiles_kernels::{softmax::softmax, vector};
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Duration;

/// Elements of the vectors.
const VECTOR: usize = 1 << 26;
/// Elements that a block, or a piece of the plain code, adds.
const PIECE: usize = 4096;
/// Rows of the matrix, and elements of each.
const ROWS: usize = 4096;
const COLUMNS: usize = 4096;

/// Numbers between -8 and 8 in no order.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 12) as f32 / 65536.0 - 8.0).collect()
}

/// A group whose samples are few, as each of them moves hundreds of megabytes.
fn group<'a>(criterion: &'a mut Criterion, name: &str, bytes: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Bytes(bytes as u64));
    group
}

fn vector_add(criterion: &mut Criterion) {
    let device = Device::cpu();
    let mut group = group(criterion, "vector add, 2^26 f32", 3 * VECTOR * size_of::<f32>());
    let (x, y) = (numbers(VECTOR), vec![0.25; VECTOR]);

    let mut sum = vec![0.0; VECTOR];
    group.bench_function("plain", |bencher| {
        bencher.iter(|| {
            let terms = x.par_chunks(PIECE).zip(y.par_chunks(PIECE));
            sum.par_chunks_mut(PIECE).zip(terms).for_each(|(sum, (x, y))| {
                for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
                    *sum = x + y;
                }
            });
            black_box(&mut sum);
        });
    });

    let x = Tensor::from_vec(&device, [VECTOR], x).expect("there is memory for a vector");
    let y = Tensor::from_vec(&device, [VECTOR], y).expect("there is memory for the other");
    let mut sum = Tensor::zeros(&device, [VECTOR]).expect("there is memory for the sum");
    group.bench_function("kernel", |bencher| {
        bencher.iter(|| {
            vector::add::<f32, PIECE>()
                .launch(&device, Grid::cover([VECTOR], [PIECE]), (&x, &y, &mut sum))
                .expect("the launch is right");
        });
    });
    group.finish();
}

fn plain_softmax(x: &[f32], y: &mut [f32]) {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for (y, x) in y.iter_mut().zip(x) {
        *y = (x - largest).exp();
        sum += *y;
    }
    for y in y {
        *y /= sum;
    }
}

fn row_softmax(criterion: &mut Criterion) {
    let device = Device::cpu();
    let mut group = group(criterion, "row softmax, 4096 x 4096 f32", 2 * ROWS * COLUMNS * size_of::<f32>());
    let x = numbers(ROWS * COLUMNS);

    let mut plain = vec![0.0; ROWS * COLUMNS];
    group.bench_function("plain", |bencher| {
        bencher.iter(|| {
            plain.par_chunks_mut(COLUMNS).zip(x.par_chunks(COLUMNS)).for_each(|(y, x)| plain_softmax(x, y));
            black_box(&mut plain);
        });
    });

    let x = Tensor::from_vec(&device, [ROWS, COLUMNS], x).expect("there is memory for the matrix");
    let mut y = Tensor::poisoned(&device, [ROWS, COLUMNS]).expect("there is memory for the result");
    group.bench_function("kernel", |bencher| {
        bencher.iter(|| {
            softmax::<COLUMNS>().launch(&device, ROWS as u32, (&x, &mut y)).expect("the launch is right");
        });
    });
    group.finish();

    let y = y.to_vec().expect("the CPU has the result");
    let worst = y.iter().zip(&plain).map(|(y, plain)| (y - plain).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-6, "the kernel's softmax is {worst} off the plain one");
}

criterion_group!(benches, vector_add, row_softmax);
criterion_main!(benches);
