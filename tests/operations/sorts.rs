//! Sorts along every axis, against the stable sort of the standard library.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reduction_operands::group;
use crate::test_values::{Random, Value, for_types};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_kernels::sorts as kernels;
use cuda_tiles_test_kernels::{Input, Output};
use std::cmp::Ordering;

/// The order of sorts, written down a second time.
trait Sorted: Value + Ordered {
    fn compare(a: &Self, b: &Self) -> Ordering;
    fn is(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Sorted for $type {
            fn compare(a: &Self, b: &Self) -> Ordering {
                a.cmp(b)
            }
            fn is(self, other: Self) -> bool {
                self == other
            }
        }
    )* };
}
integers!(bool i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($type:ident)*) => { $(
        impl Sorted for $type {
            fn compare(a: &Self, b: &Self) -> Ordering {
                // `total_cmp` begins with the negative NaN, which here are the last.
                let last = |x: &Self| x.is_nan() && x.is_sign_negative();
                last(a).cmp(&last(b)).then(a.total_cmp(b))
            }
            fn is(self, other: Self) -> bool {
                self.to_bits() == other.to_bits()
            }
        }
    )* };
}
floats!(f16 bf16 f32 f64);

/// Special values, some of them many times, and random ones.
fn operands<T: Value>(seed: u64, count: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|_| match random.below(3) {
            0 => T::SPECIAL[random.below(T::SPECIAL.len() as u64) as usize],
            1 => T::small(random.below(3) as i8),
            _ => T::random(&mut random),
        })
        .collect()
}

/// Where the elements of the sorted tensor come from, as flat indices.
fn order<T: Sorted, const R: usize>(
    shape: [usize; R],
    x: &[T],
    axis: Option<usize>,
    descending: bool,
) -> Vec<usize> {
    let mut sources = vec![usize::MAX; x.len()];
    for i in 0..x.len() {
        if sources[i] == usize::MAX {
            let places = group(shape, axis, i);
            let mut sorted = places.clone();
            sorted.sort_by(
                |&a, &b| if descending { T::compare(&x[b], &x[a]) } else { T::compare(&x[a], &x[b]) },
            );
            places.iter().zip(sorted).for_each(|(&place, source)| sources[place] = source);
        }
    }
    sources
}

/// Demands that element `i` is `x[sources[i]]`, to the bit.
fn same<T: Sorted>(
    failures: &mut Failures,
    device: &cuda_tiles_host::Device,
    name: &str,
    got: &[T],
    x: &[T],
    sources: &[usize],
) {
    failures.verify(device, name, got, |i, value| {
        let expected = x[sources[i]];
        (!value.is(expected)).then(|| format!("{expected:?}"))
    });
}

type Sorts<T> =
    Kernel<(Input<T, (D<8>, D<32>)>, Output<T, (D<4>, D<8>, D<32>)>, Output<u32, (D<3>, D<8>, D<32>)>)>;

fn check_sorts<T: Sorted>(kernel: &Sorts<T>) {
    const SHAPE: [usize; 2] = [8, 32];
    let mut failures = Failures::new::<T>("sorts_of_8_32");
    for seed in 0..4 {
        let x = operands::<T>(seed, 256);
        let along_1 = order(SHAPE, &x, Some(1), false);
        let expected = [
            order(SHAPE, &x, Some(0), false),
            order(SHAPE, &x, Some(1), true),
            order(SHAPE, &x, None, false),
            along_1.clone(),
        ];
        let down_0 = order(SHAPE, &x, Some(0), true);
        for device in devices() {
            let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
            let mut values = Tensor::poisoned(device, [4, 8, 32]).unwrap();
            let mut positions = Tensor::poisoned(device, [3, 8, 32]).unwrap();
            kernel.launch(device, 1, (&operand, &mut values, &mut positions)).unwrap();
            for (row, got) in values.to_vec().unwrap().chunks(256).enumerate() {
                same(&mut failures, device, &format!("values, row {row}"), got, &x, &expected[row]);
            }
            let positions = positions.to_vec().unwrap();
            failures.exact(device, "positions along axis 0", &positions[..256], |i| (down_0[i] / 32) as u32);
            failures
                .exact(device, "positions along axis 1", &positions[256..512], |i| (along_1[i] % 32) as u32);
            failures.exact(device, "numbers", &positions[512..], |i| along_1[i] as u32);
        }
    }
}

#[test]
fn every_type_in_total_and_stable_order() {
    for_types!(check_sorts, kernels::sorts_of_8_32: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type Axes<T, const N: usize, const M: usize> =
    Kernel<(Input<T, (D<N>, D<M>)>, Output<T, (D<2>, D<N>, D<M>)>)>;

fn check_axes<T: Sorted, const N: usize, const M: usize>(kernel: &Axes<T, N, M>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    let x = operands::<T>(7, N * M);
    let expected = [order([N, M], &x, Some(0), false), order([N, M], &x, Some(1), true)];
    for device in devices() {
        let operand = Tensor::from_slice(device, [N, M], &x).unwrap();
        let mut values = Tensor::poisoned(device, [2, N, M]).unwrap();
        kernel.launch(device, 1, (&operand, &mut values)).unwrap();
        for (row, got) in values.to_vec().unwrap().chunks(N * M).enumerate() {
            same(&mut failures, device, &format!("row {row}"), got, &x, &expected[row]);
        }
    }
}

#[test]
fn every_axis_in_blocks_of_every_size() {
    check_axes(kernels::sort_axes_of_64_16::<f32>());
    check_axes(kernels::sort_axes_of_64_16::<i64>());
    check_axes(kernels::sort_axes_of_2_2::<f32>());
    check_axes(kernels::sort_axes_of_64_32::<f16>());
    check_axes(kernels::sort_axes_of_1_4096::<f32>());
    check_axes(kernels::sort_axes_of_1_4096::<f64>());
    check_axes(kernels::sort_axes_of_1024_1::<i8>());
}

type Largest<T> = Kernel<(
    Input<T, (D<16>, D<64>)>,
    Output<T, (D<16>, D<4>)>,
    Output<u32, (D<16>, D<4>)>,
    Output<T, (D<1>, D<64>)>,
    Output<u32, (D<1>, D<64>)>,
)>;

fn check_largest<T: Sorted>(kernel: &Largest<T>) {
    let mut failures = Failures::new::<T>("largest_of_16_64");
    for seed in 0..4 {
        let x = operands::<T>(seed, 1024);
        let along_1 = order([16, 64], &x, Some(1), true);
        let best: Vec<usize> = (0..64).map(|i| along_1[i / 4 * 64 + i % 4]).collect();
        let highest = &order([16, 64], &x, Some(0), true)[..64];
        for device in devices() {
            let operand = Tensor::from_slice(device, [16, 64], &x).unwrap();
            let mut values = Tensor::poisoned(device, [16, 4]).unwrap();
            let mut positions = Tensor::poisoned(device, [16, 4]).unwrap();
            let mut tops = Tensor::poisoned(device, [1, 64]).unwrap();
            let mut rows = Tensor::poisoned(device, [1, 64]).unwrap();
            kernel.launch(device, 1, (&operand, &mut values, &mut positions, &mut tops, &mut rows)).unwrap();
            same(&mut failures, device, "values", &values.to_vec().unwrap(), &x, &best);
            failures.exact(device, "positions", &positions.to_vec().unwrap(), |i| (best[i] % 64) as u32);
            same(&mut failures, device, "highest", &tops.to_vec().unwrap(), &x, highest);
            failures.exact(device, "rows", &rows.to_vec().unwrap(), |i| (highest[i] / 64) as u32);
        }
    }
}

#[test]
fn largest_elements_and_their_positions() {
    for_types!(check_largest, kernels::largest_of_16_64: f32 i8 u64);
}
