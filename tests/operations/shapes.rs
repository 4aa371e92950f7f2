//! Creation, reshaping, broadcasting and single elements.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::shapes as kernels;
use cuda_tiles_test_kernels::{Input, Output};

fn check_creations<T: Reference>(kernel: &Kernel<(T, Output<T, (D<4>, D<128>)>)>) {
    let mut failures = Failures::new::<T>("creations");
    for device in devices() {
        let s = T::SPECIAL[5];
        let mut results = Tensor::poisoned(device, [4, 128]).unwrap();
        kernel.launch(device, 1, (s, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "iota", &results[..128], |i| T::narrow(i as f64));
        failures.exact(device, "full", &results[128..256], |_| s);
        failures.exact(device, "zeros", &results[256..384], |_| T::small(0));
        failures.exact(device, "ones", &results[384..], |_| T::small(1));
    }
}

fn check_constants<T: Value>(kernel: &Kernel<(T, Output<T, (D<3>, D<128>)>)>) {
    let mut failures = Failures::new::<T>("constants");
    for device in devices() {
        for &s in T::SPECIAL {
            let mut results = Tensor::poisoned(device, [3, 128]).unwrap();
            kernel.launch(device, 1, (s, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            failures.exact(device, "full", &results[..128], |_| s);
            failures.exact(device, "scalar", &results[128..256], |_| s);
            failures.exact(device, "zeros", &results[256..], |_| T::small(0));
        }
    }
}

#[test]
fn creation() {
    for_types!(check_creations, kernels::creations: i8 i16 i32 i64 u8 u16 u32 u64);
    for_types!(check_constants, kernels::constants: bool f16 bf16 f32 f64);
}

type Broadcasts<T> = Kernel<(
    Input<T, (D<32>, D<16>)>,
    Input<T, (D<32>,)>,
    Input<T, (D<16>,)>,
    T,
    Output<T, (D<8>, D<32>, D<16>)>,
)>;

fn check_broadcasts<T: Reference>(kernel: &Broadcasts<T>) {
    let m = random_values::<T>(51, 32 * 16);
    let (c, r) = (random_values::<T>(52, 32), random_values::<T>(53, 16));
    let s = T::small(3);
    let mut failures = Failures::new::<T>("broadcasts");
    for device in devices() {
        let matrix = Tensor::from_slice(device, [32, 16], &m).unwrap();
        let column = Tensor::from_slice(device, [32], &c).unwrap();
        let row = Tensor::from_slice(device, [16], &r).unwrap();
        let mut results = Tensor::poisoned(device, [8, 32, 16]).unwrap();
        kernel.launch(device, 1, (&matrix, &column, &row, s, &mut results)).unwrap();
        let rows: [(&str, &dyn Fn(usize) -> T); 8] = [
            ("m - c", &|i| T::minus(m[i], c[i / 16])),
            ("m - r", &|i| T::minus(m[i], r[i % 16])),
            ("c - m", &|i| T::minus(c[i / 16], m[i])),
            ("r - m", &|i| T::minus(r[i % 16], m[i])),
            ("c - r", &|i| T::minus(c[i / 16], r[i % 16])),
            ("c broadcast", &|i| c[i / 16]),
            ("r broadcast", &|i| r[i % 16]),
            ("s - m", &|i| T::minus(s, m[i])),
        ];
        for ((name, expected), got) in rows.iter().zip(results.to_vec().unwrap().chunks(32 * 16)) {
            failures.exact(device, name, got, expected);
        }
    }
}

type HighRank<T> = Kernel<(
    Input<T, (D<8>, D<1>, D<16>)>,
    Input<T, (D<4>, D<1>)>,
    Input<T, (D<2>,)>,
    Output<T, (D<8>, D<4>, D<16>)>,
    Output<T, (D<2>, D<8>, D<4>, D<16>)>,
)>;

fn check_high_rank<T: Reference>(kernel: &HighRank<T>) {
    let (a, b, c) = (random_values::<T>(54, 128), random_values::<T>(55, 4), random_values::<T>(56, 2));
    let mut failures = Failures::new::<T>("broadcasts_of_high_rank");
    for device in devices() {
        let a_tensor = Tensor::from_slice(device, [8, 1, 16], &a).unwrap();
        let b_tensor = Tensor::from_slice(device, [4, 1], &b).unwrap();
        let c_tensor = Tensor::from_slice(device, [2], &c).unwrap();
        let mut rank_3 = Tensor::poisoned(device, [8, 4, 16]).unwrap();
        let mut rank_4 = Tensor::poisoned(device, [2, 8, 4, 16]).unwrap();
        kernel.launch(device, 1, (&a_tensor, &b_tensor, &c_tensor, &mut rank_3, &mut rank_4)).unwrap();
        let sum = |i: usize| T::plus(a[i / 64 * 16 + i % 16], b[i / 16 % 4]);
        failures.exact(device, "a + b", &rank_3.to_vec().unwrap(), sum);
        failures
            .exact(device, "c + (a + b)", &rank_4.to_vec().unwrap(), |i| T::plus(c[i / 512], sum(i % 512)));
    }
}

type LargeColumn<T> = Kernel<(Input<T, (D<8192>,)>, Input<T, (D<2>,)>, Output<T, (D<8192>, D<2>)>)>;

fn check_large_column<T: Reference>(kernel: &LargeColumn<T>) {
    let (column, row) = (random_values::<T>(57, 8192), random_values::<T>(58, 2));
    let mut failures = Failures::new::<T>("large_column");
    for device in devices() {
        let a = Tensor::from_slice(device, [8192], &column).unwrap();
        let b = Tensor::from_slice(device, [2], &row).unwrap();
        let mut results = Tensor::poisoned(device, [8192, 2]).unwrap();
        kernel.launch(device, 1, (&a, &b, &mut results)).unwrap();
        failures.exact(device, "column - row", &results.to_vec().unwrap(), |i| {
            T::minus(column[i / 2], row[i % 2])
        });
    }
}

#[test]
fn broadcasting() {
    for_types!(check_broadcasts, kernels::broadcasts: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    for_types!(check_high_rank, kernels::broadcasts_of_high_rank: i8 i32 f16 f32 f64);
    for_types!(check_large_column, kernels::large_column: u8 f16 i32 f32 f64);
}

type Reshapes<T> = Kernel<(
    Input<T, (D<512>,)>,
    Output<T, (D<8>, D<64>)>,
    Output<T, (D<2>, D<4>, D<8>, D<8>)>,
    Output<T, (D<512>,)>,
)>;

fn check_reshapes<T: Value>(kernel: &Reshapes<T>) {
    let x = random_values::<T>(59, 512);
    let mut failures = Failures::new::<T>("reshapes");
    for device in devices() {
        let operand = Tensor::from_slice(device, [512], &x).unwrap();
        let mut matrix = Tensor::poisoned(device, [8, 64]).unwrap();
        let mut rank_4 = Tensor::poisoned(device, [2, 4, 8, 8]).unwrap();
        let mut back = Tensor::poisoned(device, [512]).unwrap();
        kernel.launch(device, 1, (&operand, &mut matrix, &mut rank_4, &mut back)).unwrap();
        for (name, got) in [("matrix", matrix.to_vec()), ("rank 4", rank_4.to_vec()), ("back", back.to_vec())]
        {
            failures.exact(device, name, &got.unwrap(), |i| x[i]);
        }
    }
}

#[test]
fn reshaping_keeps_the_row_major_order() {
    for_types!(check_reshapes, kernels::reshapes: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

fn check_elements<T: Reference>(
    kernel: &Kernel<(Input<T, (D<16>, D<32>)>, Output<T, (D<3>, D<16>, D<32>)>)>,
) {
    // Few small numbers, whose sums are exact in every type.
    let x: Vec<T> = (0..512).map(|i| T::small((i * 7 % 5) as i8)).collect();
    let mut failures = Failures::new::<T>("elements");
    for device in devices() {
        let operand = Tensor::from_slice(device, [16, 32], &x).unwrap();
        let mut results = Tensor::poisoned(device, [3, 16, 32]).unwrap();
        kernel.launch(device, (16, 32), (&operand, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "at", &results[..512], |i| x[i]);
        failures.exact(device, "item", &results[512..1024], |i| x[i]);
        failures.exact(device, "at of a sum", &results[1024..], |i| {
            x[i / 32 * 32..][..32].iter().copied().fold(T::small(0), T::plus)
        });
    }
}

#[test]
fn single_elements() {
    for_types!(check_elements, kernels::elements: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

#[test]
fn maps() {
    let (x, y) = (random_values::<i32>(60, 1008), random_values::<i32>(61, 1008));
    let mut failures = Failures::new::<i32>("maps");
    for device in devices() {
        let a = Tensor::from_slice(device, [1008], &x).unwrap();
        let b = Tensor::from_slice(device, [1008], &y).unwrap();
        let mut results = Tensor::poisoned(device, [2, 1008]).unwrap();
        kernels::maps.launch(device, Grid::cover([1008], [TILE]), (&a, &b, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "map", &results[..1008], |i| {
            if x[i] % 2 != 0 { i32::times(x[i], x[i]) } else { x[i] }
        });
        failures.exact(device, "zip_map", &results[1008..], |i| i32::minus(i32::times(x[i], 3), y[i]));
        let mut results = Tensor::poisoned(device, [1, 1008]).unwrap();
        kernels::maps_by_turns.launch(device, 1, (&a, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "map_by_turns", &results, |i| i64::from(x[i] / 2) + i64::from(x[i]));
    }
}
