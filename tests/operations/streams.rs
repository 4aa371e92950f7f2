//! Pipelined kernels, against exact sums: the elements are whole numbers so small that every type holds all sums of products.
//!
//! A GPU with warpgroup instructions runs the kernels twice: with the code for these instructions and, in a process of its own, with
//! the code for older GPUs. In that code each thread issues `cp.async`, and each warp multiplies by itself.

use crate::test_values::Random;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Artifact, Device, Grid, Launch, Tensor};
use cuda_tiles_operation_tests::streams::KERNELS;
use cuda_tiles_test_streams::pipelines::{self, add_in_order, chained, gated, sum_of_pages, two_products};
use cuda_tiles_test_streams::products::{
    streamed_nn, streamed_nt, streamed_promoted, streamed_swap_ab, streamed_tn, streamed_tt,
};
use cuda_tiles_test_streams::rings::{chained_by_rings, linear, linear_in_rounds};
use std::fmt::Debug;
use std::process::Command;
use std::sync::OnceLock;

#[path = "padded.rs"]
mod padded;
#[path = "sharing.rs"]
mod sharing;
#[path = "span_loads.rs"]
mod span_loads;
#[path = "weights.rs"]
mod weights;

/// The variable that asks for the code for older GPUs.
const OLDER: &str = "CUDA_TILES_TEST_OLDER_CODE";

/// The same kernels without their image for GPUs with warpgroup instructions.
fn older() -> &'static Artifact {
    static ARTIFACT: OnceLock<Artifact> = OnceLock::new();
    ARTIFACT.get_or_init(|| {
        let images = KERNELS.images().split(|image| image.is_exact()).next().unwrap_or_default();
        Artifact::new(KERNELS.name(), images, KERNELS.missing())
    })
}

/// The CPU, and the GPU if there is one, with the kernels loaded.
fn devices() -> &'static [Device] {
    static LOADED: OnceLock<()> = OnceLock::new();
    let devices = crate::devices::devices();
    LOADED.get_or_init(|| {
        let artifact = if std::env::var_os(OLDER).is_some() { older() } else { &KERNELS };
        for device in devices.iter().filter(|device| device.is_gpu()) {
            device.load(artifact).expect("the driver compiles the kernels");
        }
    });
    devices
}

#[test]
fn older_code_on_newer_gpus() {
    let gpu = devices().iter().find(|device| device.is_gpu());
    let kernel = pipelines::read_some.description();
    if gpu.and_then(|gpu| gpu.image_of(kernel).unwrap()).is_none_or(|image| !image.is_exact()) {
        eprintln!("no GPU with code of its own: nothing else to run");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["streams::", "--nocapture"])
        .env(OLDER, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && !text.contains("running 0 tests"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Elements of operands and of accumulators.
trait Whole: Element + Debug + PartialEq {
    /// A whole number that the type holds.
    fn of(number: i64) -> Self;
}

macro_rules! wholes {
    ($($type:ident: |$number:ident| $of:expr;)*) => { $(
        impl Whole for $type {
            fn of($number: i64) -> Self {
                $of
            }
        }
    )* };
}
wholes! {
    f16: |x| f16::from_f32(x as f32);
    bf16: |x| bf16::from_f32(x as f32);
    tf32: |x| tf32::from_f32(x as f32);
    f8e4m3: |x| f8e4m3::from_f32(x as f32);
    f8e5m2: |x| f8e5m2::from_f32(x as f32);
    f32: |x| x as f32;
    f64: |x| x as f64;
    i8: |x| x as i8;
    // `u8` has no negative numbers.
    u8: |x| x as u8;
    i32: |x| x as i32;
}

/// Matrices, row by row, and how many rows and columns each has.
#[derive(Clone)]
struct Matrices {
    shape: [usize; 3],
    numbers: Vec<i64>,
}

impl Matrices {
    /// Numbers from `least` to 1.
    fn random(random: &mut Random, shape: [usize; 3], least: i64) -> Self {
        let number = |_| least + random.below((2 - least) as u64) as i64;
        Self { shape, numbers: (0..shape.iter().product()).map(number).collect() }
    }

    fn filled(shape: [usize; 3], number: impl Fn(usize, usize, usize) -> i64) -> Self {
        let [_, rows, columns] = shape;
        let place = |at: usize| (at / (rows * columns), at / columns % rows, at % columns);
        let numbers =
            (0..shape.iter().product()).map(place).map(|(batch, i, j)| number(batch, i, j)).collect();
        Self { shape, numbers }
    }

    fn at(&self, batch: usize, row: usize, column: usize) -> i64 {
        self.numbers[(batch * self.shape[1] + row) * self.shape[2] + column]
    }

    fn transposed(&self) -> Self {
        let [batches, rows, columns] = self.shape;
        Self::filled([batches, columns, rows], |batch, i, j| self.at(batch, j, i))
    }

    fn times(&self, other: &Self) -> Self {
        let ([batches, rows, depth], columns) = (self.shape, other.shape[2]);
        assert_eq!(other.shape[..2], [batches, depth]);
        Self::filled([batches, rows, columns], |batch, i, j| {
            (0..depth).map(|k| self.at(batch, i, k) * other.at(batch, k, j)).sum()
        })
    }

    fn map(&self, other: &Self, number: impl Fn(i64, i64) -> i64) -> Self {
        let numbers = self.numbers.iter().zip(&other.numbers).map(|(&a, &b)| number(a, b)).collect();
        Self { shape: self.shape, numbers }
    }

    fn elements<T: Whole>(&self) -> Vec<T> {
        self.numbers.iter().map(|&number| T::of(number)).collect()
    }

    /// As a tensor whose rows are padded, so that TMA can load it.
    fn padded<T: Whole>(&self, device: &Device) -> Tensor<T, 3> {
        let mut tensor = Tensor::padded(device, self.shape).unwrap();
        tensor.copy_from_slice(&self.elements()).unwrap();
        tensor
    }

    /// Demands that a tensor has these numbers.
    fn check<T: Whole>(&self, found: &Tensor<T, 3>, what: &str) {
        let (found, [_, rows, columns]) = (found.to_vec().unwrap(), self.shape);
        let wrong =
            self.elements().into_iter().zip(&found).position(|(wanted, &found): (T, _)| wanted != found);
        if let Some(at) = wrong {
            let (batch, i, j) = (at / (rows * columns), at / columns % rows, at % columns);
            let (found, wanted) = (found[at], self.numbers[at]);
            panic!("{what}: element [{batch}, {i}, {j}] is {found:?} instead of {wanted}");
        }
        assert_eq!(found.len(), self.numbers.len());
    }
}

fn describe(device: &Device) -> String {
    let older = if device.is_gpu() && std::env::var_os(OLDER).is_some() { ", older code" } else { "" };
    format!("{device}{older}")
}

/// A size from 0 on: often one at which tiles begin or end.
fn size(random: &mut Random, most: u64) -> usize {
    const EDGES: [usize; 12] = [0, 1, 7, 8, 15, 16, 31, 63, 64, 65, 127, 129];
    let edge = EDGES[random.below(EDGES.len() as u64) as usize];
    if random.below(3) > 0 && edge as u64 <= most { edge } else { random.below(most + 1) as usize }
}

/// Rows, columns and depths: edges of tiles, then random sizes, fewer on the CPU.
fn sizes(device: &Device, random: &mut Random) -> Vec<[usize; 3]> {
    let mut sizes = vec![[64, 64, 64], [1, 1, 1], [0, 5, 3], [3, 0, 5], [65, 70, 0], [130, 67, 129]];
    let (count, most) = if device.is_gpu() { (25, 400) } else { (4, 140) };
    sizes.extend((0..count).map(|_| [0; 3].map(|_| size(random, most))));
    sizes
}

type Product<
    T,
    U,
    O,
    const P: usize,
    const Q: usize,
    const R: usize,
    const S: usize,
    const M: usize,
    const N: usize,
> = Kernel<(TmaLoad<T, Shape2<P, Q>>, TmaLoad<U, Shape2<R, S>>, TmaStore<O, Shape2<M, N>>)>;

/// Checks a kernel whose operands are transposed or not.
fn check_product<
    T: Whole,
    U: Whole,
    O: Whole,
    const P: usize,
    const Q: usize,
    const R: usize,
    const S: usize,
    const M: usize,
    const N: usize,
>(
    kernel: &Product<T, U, O, P, Q, R, S, M, N>,
    [transpose_a, transpose_b]: [bool; 2],
) where
    D<P>: Dimension,
    D<Q>: Dimension,
    D<R>: Dimension,
    D<S>: Dimension,
    D<M>: Dimension,
    D<N>: Dimension,
{
    for device in devices() {
        let mut random = Random::new(91);
        for [rows, columns, depth] in sizes(device, &mut random) {
            let name = kernel.description().name;
            let what = format!("{name} on {}: {rows} x {columns}, sums of {depth}", describe(device));
            let least = |has_sign: bool| if has_sign { -1 } else { 0 };
            let a = Matrices::random(&mut random, [1, rows, depth], least(T::of(-1) != T::of(255)));
            let b = Matrices::random(&mut random, [1, depth, columns], least(U::of(-1) != U::of(255)));
            let sums = a.times(&b);
            let a = if transpose_a { a.transposed() } else { a }.padded::<T>(device);
            let b = if transpose_b { b.transposed() } else { b }.padded::<U>(device);
            // Padded rows are stored through shared memory, others directly.
            for is_padded in [false, true] {
                let mut c = if is_padded {
                    Tensor::padded(device, sums.shape).unwrap()
                } else {
                    Tensor::<O, 3>::poisoned(device, sums.shape).unwrap()
                };
                let blocks = 1 + random.below(7) as u32;
                kernel.launch(device, blocks, (&a, &b, &mut c)).unwrap();
                sums.check(&c, &format!("{what}, {blocks} blocks, padded: {is_padded}"));
            }
        }
    }
}

#[test]
fn products_of_every_combination_of_types() {
    let (nn, nt) = ([false, false], [false, true]);
    check_product(streamed_nn::<f16, f16, f32, f16, 64, 64, 64, 3>(), nn);
    check_product(streamed_nn::<f64, f64, f64, f64, 64, 64, 16, 4>(), nn);
    check_product(streamed_nn::<i8, u8, i32, i32, 64, 64, 64, 2>(), nn);
    check_product(streamed_nt::<bf16, bf16, f32, bf16, 64, 64, 64, 3>(), nt);
    check_product(streamed_nt::<tf32, tf32, f32, f32, 64, 64, 32, 3>(), nt);
    check_product(streamed_nt::<f8e4m3, f8e4m3, f32, f16, 64, 64, 64, 4>(), nt);
    check_product(streamed_nt::<f8e5m2, f8e5m2, f32, f32, 64, 64, 32, 0>(), nt);
    check_product(streamed_nt::<i8, i8, i32, i32, 64, 64, 64, 3>(), nt);
    check_product(streamed_nt::<u8, u8, i32, i32, 128, 32, 128, 2>(), nt);
}

#[test]
fn products_of_operands_of_either_major() {
    let (tn, tt) = ([true, false], [true, true]);
    check_product(streamed_tn::<f16, f16, f32, f32, 128, 64, 16, 5>(), tn);
    check_product(streamed_tn::<tf32, tf32, f32, f32, 64, 32, 32, 2>(), tn);
    check_product(streamed_tt::<bf16, bf16, f32, f32, 64, 128, 32, 0>(), tt);
    check_product(streamed_tt::<u8, i8, i32, i32, 64, 64, 32, 3>(), tt);
    check_product(streamed_tt::<tf32, tf32, f32, f32, 64, 64, 32, 3>(), tt);
    check_product(streamed_tt::<tf32, tf32, f32, f32, 128, 32, 8, 2>(), tt);
}

#[test]
fn products_with_a_and_b_swapped() {
    let nn = [false, false];
    check_product(streamed_swap_ab::<tf32, f32, f32, 128, 64, 32, 3>(), nn);
    check_product(streamed_swap_ab::<tf32, f32, f16, 64, 128, 16, 2>(), nn);
    check_product(streamed_swap_ab::<f16, f32, f16, 64, 64, 64, 3>(), nn);
    check_product(streamed_swap_ab::<bf16, f32, f32, 32, 64, 32, 0>(), nn);
    check_product(streamed_swap_ab::<f64, f64, f64, 64, 64, 16, 2>(), nn);
}

#[test]
fn promoted_accumulation() {
    let nt = [false, true];
    check_product(streamed_promoted::<f8e4m3, 64, 64, 64, 3>(), nt);
    check_product(streamed_promoted::<f8e4m3, 64, 32, 64, 2>(), nt);
    check_product(streamed_promoted::<f8e5m2, 128, 32, 32, 0>(), nt);
    check_product(streamed_promoted::<bf16, 64, 64, 64, 2>(), nt);
    // Sums that need more than 14 bits: 256 x 256 in the first step, and 1 in each of 20 others.
    let (rows, columns, depth) = (70, 300, 21 * 64);
    let number = |k: usize| match k {
        0 => 256,
        _ => i64::from(k.is_multiple_of(64)),
    };
    for device in devices() {
        let a = Matrices::filled([1, rows, depth], |_, _, k| number(k));
        let b = Matrices::filled([1, columns, depth], |_, _, k| number(k));
        let sums = Matrices::filled([1, rows, columns], |_, _, _| 256 * 256 + 20);
        let (a, b) = (a.padded::<f8e4m3>(device), b.padded::<f8e4m3>(device));
        let check = |launch: &dyn Fn(&mut Tensor<f32, 3>)| {
            let mut c = Tensor::poisoned(device, sums.shape).unwrap();
            launch(&mut c);
            sums.check(&c, &describe(device));
        };
        check(&|c| streamed_promoted::<f8e4m3, 64, 64, 64, 3>().launch(device, 3, (&a, &b, c)).unwrap());
        check(&|c| streamed_promoted::<f8e4m3, 64, 32, 64, 2>().launch(device, 3, (&a, &b, c)).unwrap());
    }
}

type Ordered =
    Kernel<(TmaLoad<f16, Shape2<64, 16>>, TmaLoad<f16, Shape2<16, 16>>, TmaStore<f32, Shape2<64, 16>>)>;

fn check_order(kernel: &Ordered) {
    for device in devices() {
        let mut random = Random::new(92);
        let unit = Matrices::filled([1, 16, 16], |_, i, j| i64::from(i == j)).padded(device);
        let count = if device.is_gpu() { 40 } else { 8 };
        for round in 0..count {
            let shape = if round == 0 {
                [0, 70, 9]
            } else {
                [1 + random.below(5) as usize, size(&mut random, 500), size(&mut random, 60)]
            };
            let blocks = 1 + random.below(40) as u32;
            let x = Matrices::filled(shape, |batch, i, j| ((batch * 509 + i * 61 + j) % 2048 + 1) as i64);
            let y = Matrices::random(&mut random, shape, -100);
            let expected = x.map(&y, |x, y| x + y);
            let mut tensor = y.padded::<f32>(device);
            kernel.launch(device, blocks, (&x.padded(device), &unit, &mut tensor)).unwrap();
            let name = kernel.description().name;
            expected.check(&tensor, &format!("{name} on {}: {shape:?}, {blocks} blocks", describe(device)));
        }
    }
}

#[test]
fn every_tile_order_visits_each_tile_once() {
    check_order(add_in_order::<RowMajor>());
    check_order(add_in_order::<ColumnMajor>());
    check_order(add_in_order::<Grouped<3>>());
    check_order(add_in_order::<FromLastRow<2>>());
    check_order(add_in_order::<CausalBalanced>());
}

/// `(q k') v` of random matrices. `T` holds all elements of `q k'`: they are sums of at most 32 products of ones.
fn check_chained<T: Whole>(kernel: &Kernel<(TmaLoad<T, Shape2<64, 32>>, TmaStore<f32, Shape2<64, 32>>)>) {
    for device in devices() {
        let mut random = Random::new(93);
        let (count, most) = if device.is_gpu() { (30, 500) } else { (5, 200) };
        for _ in 0..count {
            let (batches, rows) = (1 + random.below(3) as usize, size(&mut random, most));
            let shape = [3 * batches, rows, size(&mut random, 32)];
            let x = Matrices::random(&mut random, shape, -1);
            let part = |kind| {
                Matrices::filled([batches, rows, shape[2]], |batch, i, j| x.at(3 * batch + kind, i, j))
            };
            let expected = part(0).times(&part(1).transposed()).times(&part(2));
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            let blocks = 1 + random.below(9) as u32;
            kernel.launch(device, blocks, (&x.padded(device), &mut y)).unwrap();
            let name = kernel.description().name;
            expected.check(&y, &format!("{name} on {}: {shape:?}, {blocks} blocks", describe(device)));
        }
    }
}

#[test]
fn multiplications_in_flight_at_the_same_time() {
    check_chained(chained::<f16, 4>());
    check_chained(chained::<bf16, 0>());
    check_chained(chained_by_rings::<f16>());
    check_chained(chained_by_rings::<bf16>());
}

type Square<T> = TmaLoad<T, Shape2<64, 64>>;

fn check_linear<T: Whole>(
    kernel: &Kernel<(Square<T>, Square<T>, TmaStore<f32, Shape2<64, 64>>)>,
    most_steps: u64,
) {
    for device in devices() {
        let mut random = Random::new(95);
        let (count, most) = if device.is_gpu() { (30, 3000) } else { (5, 300) };
        for _ in 0..count {
            let (batches, rows) = (1 + random.below(3) as usize, size(&mut random, most));
            let whole_steps = 64 * random.below(most_steps) as usize;
            let (depth, columns) = (whole_steps + size(&mut random, 64), size(&mut random, 64));
            let x = Matrices::random(&mut random, [batches, rows, depth], -1);
            let w = Matrices::random(&mut random, [1, depth, columns], -1);
            let expected = x.times(&Matrices::filled([batches, depth, columns], |_, i, j| w.at(0, i, j)));
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            let blocks = 1 + random.below(9) as u32;
            kernel.launch(device, blocks, (&x.padded(device), &w.padded(device), &mut y)).unwrap();
            let name = kernel.description().name;
            expected.check(&y, &format!("{name} on {}: {:?}, {blocks} blocks", describe(device), x.shape));
        }
    }
}

#[test]
fn an_operand_that_stays_in_its_ring() {
    check_linear(linear::<f16>(), 1);
    check_linear(linear::<bf16>(), 1);
}

#[test]
fn an_operand_that_stays_in_the_ring_of_another() {
    // A ring of five stages has room for two k loops of two steps, and for none of six.
    check_linear(linear_in_rounds::<f16>(), 6);
    check_linear(linear_in_rounds::<bf16>(), 6);
}

type Third = TmaLoad<f16, Shape2<32, 32>>;

fn check_gated<O: Whole>(
    kernel: &Kernel<(
        TmaLoad<f16, Shape2<64, 32>>,
        Third,
        Third,
        Span<O, (u32,)>,
        f32,
        TmaStore<O, Shape2<64, 32>>,
    )>,
) {
    for device in devices() {
        let mut random = Random::new(94);
        for [rows, columns, depth] in sizes(device, &mut random) {
            // `f16` holds products of two sums of this depth.
            let depth = depth.min(40);
            let a = Matrices::random(&mut random, [2, rows, depth], -1);
            let b = Matrices::random(&mut random, [2, columns, depth], -1);
            let c = Matrices::random(&mut random, [2, columns, depth], -1);
            // A row that is too short reads as zero behind its end.
            let length = columns - random.below(2).min(columns as u64) as usize;
            let r = Matrices::random(&mut random, [1, 1, length], -50);
            let before = Matrices::random(&mut random, [2, rows, columns], -50);
            let gates = a.times(&b.transposed()).map(&a.times(&c.transposed()), |x, y| x * y);
            let expected = Matrices::filled([2, rows, columns], |batch, i, j| {
                let added = if j < length { r.at(0, 0, j) } else { 0 };
                gates.at(batch, i, j) + added - 2 * before.at(batch, i, j)
            });
            let mut y = Tensor::from_vec(device, before.shape, before.elements::<O>()).unwrap();
            let row = Tensor::from_vec(device, [length], r.elements::<O>()).unwrap();
            let (a, b, c) = (a.padded(device), b.padded(device), c.padded(device));
            kernel.launch(device, 3, (&a, &b, &c, &row, -2.0, &mut y)).unwrap();
            let name = kernel.description().name;
            expected
                .check(&y, &format!("{name} on {}: {rows} x {columns}, sums of {depth}", describe(device)));
        }
    }
}

#[test]
fn two_products_of_one_stage_and_epilogues_that_read() {
    check_gated(gated::<f16>());
    check_gated(gated::<f32>());
}

#[test]
fn stages_of_four_tiles_two_held_at_a_time() {
    for device in devices() {
        let mut random = Random::new(95);
        for [rows, columns, depth] in sizes(device, &mut random) {
            let mut matrix = |rows, columns| Matrices::random(&mut random, [1, rows, columns], -1);
            let (a, b) = (matrix(rows, depth), matrix(columns, depth));
            let (c, d) = (matrix(rows, depth), matrix(depth, columns));
            let expected = a.times(&b.transposed()).map(&c.times(&d), |x, y| x + y);
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            let (a, b) = (a.padded(device), b.padded(device));
            two_products.launch(device, 2, (&a, &b, &c.padded(device), &d.padded(device), &mut y)).unwrap();
            expected.check(
                &y,
                &format!("two_products on {}: {rows} x {columns}, sums of {depth}", describe(device)),
            );
        }
    }
}

#[test]
fn producers_with_loads_left_are_left_alone() {
    for device in devices() {
        let x = Matrices::filled([1, 20 * 64, 8], |_, i, j| (i * 8 + j) as i64).padded(device);
        for count in [0, 1, 2, 3, 19, 20] {
            let mut y = Tensor::poisoned(device, [1, 64, 8]).unwrap();
            pipelines::read_some.launch(device, 1, (&x, &mut y, count as u32)).unwrap();
            let sum = |_, i, j| (0..count).map(|tile| ((tile * 64 + i) * 8 + j) as i64).sum();
            Matrices::filled([1, 64, 8], sum).check(&y, &format!("{count} on {}", describe(device)));
        }
    }
}

/// The producer reads a table of pages. Sequences share pages, and have any length.
#[test]
fn pages_that_a_table_names() {
    for device in devices() {
        let mut random = Random::new(211);
        for _ in 0..if device.is_gpu() { 30 } else { 8 } {
            let (pages, sequences) = (1 + random.below(40) as usize, size(&mut random, 50));
            let blocks = 1 + random.below(60) as u32;
            let width = 1 + random.below(20) as usize;
            let x = Matrices::random(&mut random, [1, pages * 64, 8], -1);
            let lengths: Vec<u32> =
                (0..sequences).map(|_| size(&mut random, width as u64 * 64).min(width * 64) as u32).collect();
            let table: Vec<u32> = (0..sequences * width).map(|_| random.below(pages as u64) as u32).collect();
            let sum = |_, sequence: usize, column| {
                let row = |at: usize| table[sequence * width + at / 64] as usize * 64 + at % 64;
                (0..lengths[sequence] as usize).map(|at| x.at(0, row(at), column)).sum()
            };
            let expected = Matrices::filled([1, sequences, 8], sum);
            let table = Tensor::from_vec(device, [sequences, width], table.clone()).unwrap();
            let lengths = Tensor::from_vec(device, [sequences], lengths.clone()).unwrap();
            let mut y = Tensor::poisoned(device, [sequences, 8]).unwrap();
            let x = x.padded(device);
            sum_of_pages.launch(device, blocks, (&x, &table, &lengths, &mut y)).unwrap();
            let found = y.to_vec().unwrap();
            assert_eq!(found, expected.elements::<f32>(), "{sequences} sequences on {}", describe(device));
        }
    }
}

/// Launches repeatedly, and demands the same bits each time.
fn check_repeated<T: Element<Bits: PartialEq>>(what: &str, mut launch: impl FnMut(&Device) -> Tensor<T, 3>) {
    for device in devices() {
        let asked = std::env::var("CUDA_TILES_TEST_REPEATS").ok().and_then(|times| times.parse().ok());
        let times = asked.unwrap_or(if device.is_gpu() { 1000 } else { 3 });
        let mut bits =
            || launch(device).to_vec().unwrap().into_iter().map(Element::to_bits).collect::<Vec<_>>();
        let first = bits();
        for time in 1..times {
            assert!(bits() == first, "{what} on {}: launch {time} differs from the first", describe(device));
        }
    }
}

/// A thousand launches give the same bits, although the sums depend on their order.
#[test]
fn launches_repeat_to_the_bit() {
    let mut random = Random::new(96);
    let mut fractions = |shape: [usize; 2], device: &Device| -> Tensor<f16, 3> {
        let numbers = (0..shape[0] * shape[1]).map(|_| f16::from_f64(random.unit())).collect();
        Tensor::from_vec(device, [1, shape[0], shape[1]], numbers).unwrap()
    };
    let mut operands = Vec::new();
    for device in devices() {
        operands.push((
            device,
            fractions([200, 320], device),
            fractions([320, 136], device),
            fractions([136, 320], device),
        ));
    }
    let of = |device: &Device| operands.iter().find(|operands| std::ptr::eq(operands.0, device)).unwrap();
    let poisoned = |device: &Device, shape| Tensor::<f32, 3>::poisoned(device, shape).unwrap();
    check_repeated("streamed_nn", |device| {
        let (_, a, b, _) = of(device);
        let mut c = Tensor::<f16, 3>::zeros(device, [1, 200, 136]).unwrap();
        streamed_nn::<f16, f16, f32, f16, 64, 64, 64, 3>().launch(device, 5, (a, b, &mut c)).unwrap();
        c
    });
    check_repeated("streamed_tn", |device| {
        let (_, a, b, _) = of(device);
        let mut c = poisoned(device, [1, 320, 136]);
        let part = b.view().slice(1, 0..200).unwrap();
        streamed_tn::<f16, f16, f32, f32, 128, 64, 16, 5>().launch(device, 7, (a, part, &mut c)).unwrap();
        c
    });
    check_repeated("chained", |device| {
        let (_, _, x, _) = of(device);
        let mut y = poisoned(device, [1, 106, 32]);
        // Overlapping parts of one matrix.
        let x = x.view().strided(0, [3, 106, 32], [136 * 100, 136, 1]).unwrap();
        chained::<f16, 4>().launch(device, 2, (x, &mut y)).unwrap();
        y
    });
    check_repeated("gated", |device| {
        let (_, a, _, b) = of(device);
        let mut y = Tensor::<f32, 3>::full(device, [1, 200, 136], 0.25).unwrap();
        let row = Tensor::<f32, 1>::full(device, [136], 0.5).unwrap();
        gated::<f32>().launch(device, Grid::from(6), (a, b, b, &row, 0.5, &mut y)).unwrap();
        y
    });
    check_repeated("two_products", |device| {
        let (_, a, d, b) = of(device);
        let mut y = poisoned(device, [1, 200, 136]);
        two_products.launch(device, 5, (a, b, a, d, &mut y)).unwrap();
        y
    });
}
