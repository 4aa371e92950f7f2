//! Scans along every axis, in every form.
//!
//! Sums and products of floats are compared on operands on which they are exact, see [`crate::reduction_operands`], and within a bound.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reduction_operands::{Operands, error_of_sum, group, wraps};
use crate::reference::Reference;
use crate::test_values::{Random, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_test_kernels::scans as kernels;
use cuda_tiles_test_kernels::{Input, Output};

/// Whether an element leaves itself out, and whether the last one comes first.
#[derive(Clone, Copy, Debug)]
struct Form {
    exclusive: bool,
    backward: bool,
}

const FORMS: [Form; 4] = [
    Form { exclusive: false, backward: false },
    Form { exclusive: true, backward: false },
    Form { exclusive: false, backward: true },
    Form { exclusive: true, backward: true },
];

/// A tensor's elements scanned along an axis (or all).
fn scanned<T: Copy, const R: usize>(
    shape: [usize; R],
    x: &[T],
    axis: Option<usize>,
    form: Form,
    identity: T,
    combine: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut results = x.to_vec();
    let mut seen = vec![false; x.len()];
    for i in 0..x.len() {
        if seen[i] {
            continue;
        }
        let mut places = group(shape, axis, i);
        if form.backward {
            places.reverse();
        }
        let mut before = None;
        for k in places {
            let through = before.map_or(x[k], |before| combine(before, x[k]));
            results[k] = if form.exclusive { before.unwrap_or(identity) } else { through };
            before = Some(through);
            seen[k] = true;
        }
    }
    results
}

/// Checks the scans of one tensor.
struct Check<'a, T, const R: usize> {
    failures: &'a mut Failures,
    device: &'a Device,
    operands: Operands,
    shape: [usize; R],
    x: &'a [T],
}

impl<T: Reference, const R: usize> Check<'_, T, R> {
    fn label(&self, name: &str, axis: Option<usize>, form: Form) -> String {
        let along = axis.map_or("all axes".to_owned(), |axis| format!("axis {axis}"));
        format!("{name}, {form:?}, along {along} of {:?}, {:?}", self.shape, self.operands)
    }

    fn exact(
        &mut self,
        name: &str,
        got: &[T],
        axis: Option<usize>,
        form: Form,
        identity: T,
        combine: fn(T, T) -> T,
    ) {
        let expected = scanned(self.shape, self.x, axis, form, identity, combine);
        self.failures.exact(self.device, &self.label(name, axis, form), got, |i| expected[i]);
    }

    fn sum(&mut self, got: &[T], axis: Option<usize>, form: Form) {
        if wraps::<T>() || self.operands == Operands::Units {
            self.exact("sum", got, axis, form, T::small(0), T::plus);
        } else if self.operands == Operands::Random {
            let wide: Vec<f64> = self.x.iter().map(|x| x.wide()).collect();
            let sizes: Vec<f64> = wide.iter().map(|x| x.abs()).collect();
            let sums = scanned(self.shape, &wide, axis, form, 0.0, |a, b| a + b);
            let sizes = scanned(self.shape, &sizes, axis, form, 0.0, |a, b| a + b);
            let terms = scanned(self.shape, &vec![1.0; self.x.len()], axis, form, 0.0, |a, b| a + b);
            self.failures.verify(self.device, &self.label("sum", axis, form), got, |i, value| {
                let bound = error_of_sum::<T>(terms[i], sums[i], sizes[i]);
                let close = (value.wide() - sums[i]).abs() <= bound;
                (!close).then(|| format!("{} within {bound}", sums[i]))
            });
        }
    }
}

type Scans<T, const N: usize, const M: usize, const ROWS: usize> =
    Kernel<(Input<T, (D<N>, D<M>)>, Output<T, (D<ROWS>, D<N>, D<M>)>)>;

/// Calls `check` with each row of the results, for all operands and devices.
fn each_row<T: Reference, const N: usize, const M: usize, const ROWS: usize>(
    kernel: &Scans<T, N, M, ROWS>,
    check: impl Fn(usize, &[T], &mut Check<'_, T, 2>),
) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for operands in Operands::ALL {
        let x = operands.make::<T>(N * M);
        for device in devices() {
            let operand = Tensor::from_slice(device, [N, M], &x).unwrap();
            let mut results = Tensor::poisoned(device, [ROWS, N, M]).unwrap();
            kernel.launch(device, 1, (&operand, &mut results)).unwrap();
            let mut one = Check { failures: &mut failures, device, operands, shape: [N, M], x: &x };
            for (row, got) in results.to_vec().unwrap().chunks(N * M).enumerate() {
                check(row, got, &mut one);
            }
        }
    }
}

fn check_scans<T: Reference, const N: usize, const M: usize>(kernel: &Scans<T, N, M, 8>) {
    each_row(kernel, |row, got, check| {
        let axis = Some(0);
        let products = wraps::<T>() || check.operands == Operands::Powers;
        match row {
            0..4 => check.sum(got, axis, FORMS[row]),
            4 if products => check.exact("product", got, axis, FORMS[0], T::small(1), T::times),
            4 => (),
            5 => check.exact("maximum", got, axis, FORMS[0], T::small(0), T::larger),
            6 => check.exact("minimum", got, axis, FORMS[2], T::small(0), T::smaller),
            // With NaN the closure is not associative.
            _ if !wraps::<T>() && check.operands == Operands::Special => (),
            _ => check.exact("largest magnitude", got, axis, FORMS[0], T::small(0), |a, b| {
                if T::order(T::magnitude(a), T::magnitude(b)).is_some_and(|order| order.is_lt()) {
                    b
                } else {
                    a
                }
            }),
        }
    });
}

#[test]
fn every_scan_of_every_type() {
    fn check<T: Reference>(kernel: &Scans<T, 8, 32, 8>) {
        check_scans(kernel);
    }
    for_types!(check, kernels::scans_of_8_32: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    check_scans(kernels::scans_of_4_16::<f32>());
    check_scans(kernels::scans_of_4_16::<i64>());
}

fn check_axes<T: Reference, const N: usize, const M: usize>(kernel: &Scans<T, N, M, 9>) {
    each_row(kernel, |row, got, check| {
        let axis = [Some(0), Some(1), None][row % 3];
        match row / 3 {
            0 => check.sum(got, axis, FORMS[0]),
            1 => check.sum(got, axis, FORMS[3]),
            _ => check.exact("maximum", got, axis, FORMS[2], T::small(0), T::larger),
        }
    });
}

#[test]
fn every_axis_in_blocks_of_every_size() {
    check_axes(kernels::scan_axes_of_64_16::<f32>());
    check_axes(kernels::scan_axes_of_64_16::<i64>());
    check_axes(kernels::scan_axes_of_64_16::<f16>());
    check_axes(kernels::scan_axes_of_4_128::<f32>());
    check_axes(kernels::scan_axes_of_4_128::<u16>());
    check_axes(kernels::scan_axes_of_2_2::<f32>());
    check_axes(kernels::scan_axes_of_2_2::<i32>());
    check_axes(kernels::scan_axes_of_64_32::<f32>());
    check_axes(kernels::scan_axes_of_1_2048::<i8>());
    check_axes(kernels::scan_axes_of_1_2048::<bf16>());
    check_axes(kernels::scan_axes_of_1024_1::<f32>());
    check_axes(kernels::scan_axes_of_1024_1::<u8>());
}

#[test]
fn detail_34_custom_scans_need_only_be_associative() {
    let mut random = Random::new(91);
    // Few factors are not units, so that those of 64 maps multiply to an i32.
    let factor =
        |random: &mut Random, i: usize| if i.is_multiple_of(8) { 3 } else { 1 - 2 * random.below(2) as i32 };
    let maps: Vec<(i32, u64)> = (0..1024).map(|i| (factor(&mut random, i), random.bits())).collect();
    let (a, b): (Vec<i32>, Vec<u64>) = maps.iter().copied().unzip();
    let then = |(a1, b1): (i32, u64), (a2, b2): (i32, u64)| {
        (a1.wrapping_mul(a2), (i64::from(a2) as u64).wrapping_mul(b1).wrapping_add(b2))
    };
    let mut failures = Failures::new::<(i32, u64)>("affine_maps");
    for device in devices() {
        let first = Tensor::from_slice(device, [16, 64], &a).unwrap();
        let second = Tensor::from_slice(device, [16, 64], &b).unwrap();
        let mut factors = Tensor::poisoned(device, [8, 16, 64]).unwrap();
        let mut sums = Tensor::poisoned(device, [8, 16, 64]).unwrap();
        kernels::affine_maps.launch(device, 1, (&first, &second, &mut factors, &mut sums)).unwrap();
        let (factors, sums) = (factors.to_vec().unwrap(), sums.to_vec().unwrap());
        for row in 0..8 {
            let (axis, form) = (Some(row / 4), FORMS[row % 4]);
            let expected = scanned([16, 64], &maps, axis, form, (1, 0), then);
            let label = format!("along axis {}, {form:?}", row / 4);
            failures.exact(device, &label, &factors[row * 1024..][..1024], |i| expected[i].0);
            failures.exact(device, &label, &sums[row * 1024..][..1024], |i| expected[i].1);
        }
    }
}

#[test]
fn segmented_sums() {
    let mut random = Random::new(92);
    let begins: Vec<bool> = (0..1024).map(|_| random.below(9) == 0).collect();
    let x: Vec<u64> = random_values(93, 1024);
    let pairs: Vec<(bool, u64)> = begins.iter().copied().zip(x.iter().copied()).collect();
    let mut failures = Failures::new::<(bool, u64)>("segmented_sums");
    for device in devices() {
        let flags = Tensor::from_slice(device, [64, 16], &begins).unwrap();
        let operand = Tensor::from_slice(device, [64, 16], &x).unwrap();
        let mut results = Tensor::poisoned(device, [3, 64, 16]).unwrap();
        kernels::segmented_sums.launch(device, 1, (&flags, &operand, &mut results)).unwrap();
        for (row, got) in results.to_vec().unwrap().chunks(1024).enumerate() {
            let (axis, form) = [(Some(0), FORMS[0]), (Some(1), FORMS[2]), (None, FORMS[0])][row];
            let expected = scanned([64, 16], &pairs, axis, form, (false, 0), |a, b| {
                if b.0 { b } else { (a.0, a.1.wrapping_add(b.1)) }
            });
            failures.exact(device, &format!("row {row}"), got, |i| expected[i].1);
        }
    }
}

type HighRank<T> = Kernel<(Input<T, (D<2>, D<4>, D<4>, D<16>)>, Output<T, (D<20>, D<4>, D<4>, D<16>)>)>;

fn check_high_rank<T: Reference>(kernel: &HighRank<T>) {
    const SHAPE: [usize; 4] = [2, 4, 4, 16];
    let x = Operands::Units.make::<T>(512);
    let mut failures = Failures::new::<T>("scans_of_rank_4");
    let whole = |axis: usize| scanned(SHAPE, &x, Some(axis), FORMS[0], T::small(0), T::plus);
    let totals = |axis: usize| -> Vec<T> {
        let sums = whole(axis);
        (0..512).map(|i| sums[*group(SHAPE, Some(axis), i).last().unwrap()]).collect()
    };
    for device in devices() {
        let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
        let mut results = Tensor::poisoned(device, [20, 4, 4, 16]).unwrap();
        kernel.launch(device, 1, (&operand, &mut results)).unwrap();
        for (row, got) in results.to_vec().unwrap().chunks(512).enumerate() {
            let expected = match row {
                0..8 => scanned(SHAPE, &x, Some(row % 4), FORMS[row / 4], T::small(0), T::plus),
                8 => scanned(SHAPE, &totals(1), Some(2), FORMS[0], T::small(0), T::plus),
                _ => scanned(SHAPE, &totals(3), Some(0), FORMS[2], T::small(0), T::plus),
            };
            failures.exact(device, &format!("row {row}"), got, |i| expected[i]);
        }
    }
}

#[test]
fn rank_4_and_reduced_tiles() {
    for_types!(check_high_rank, kernels::scans_of_rank_4: i32 u8 f32);
}

type Large<T> = Kernel<(Input<T, (D<8>, D<2048>)>, Output<T, (D<24>, D<2048>)>)>;

fn check_large<T: Reference>(kernel: &Large<T>) {
    const LEN: usize = 8 * 2048;
    let mut failures = Failures::new::<T>("large_scans");
    for operands in [Operands::Units, Operands::Random] {
        let x = operands.make::<T>(LEN);
        for device in devices() {
            let operand = Tensor::from_slice(device, [8, 2048], &x).unwrap();
            let mut results = Tensor::poisoned(device, [24, 2048]).unwrap();
            kernel.launch(device, 1, (&operand, &mut results)).unwrap();
            let mut check = Check { failures: &mut failures, device, operands, shape: [8, 2048], x: &x };
            for (row, got) in results.to_vec().unwrap().chunks(LEN).enumerate() {
                check.sum(got, [Some(1), Some(0), None][row], FORMS[0]);
            }
        }
    }
}

#[test]
fn scans_larger_than_the_scratch_memory() {
    for_types!(check_large, kernels::large_scans: f32 f16);
}
