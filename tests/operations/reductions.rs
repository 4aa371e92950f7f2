//! Reductions along every axis.
//!
//! Sums and products of floats are compared on operands on which they are exact, see [`crate::reduction_operands`], and within a bound.
//! Maxima, minima and positions are exact always, and get NaN, infinities, zeros of both signs and ties.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reduction_operands::{Operands, error_of_sum, group, roundoff, roundoff_of_sums, wraps};
use crate::reference::Reference;
use crate::test_values::{Random, Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_test_kernels::reductions as kernels;
use cuda_tiles_test_kernels::{Input, Output};
use std::cmp::Ordering::{self, Greater, Less};

/// The position of the element that `better` prefers; NaN last, or first.
fn position<T: Reference>(terms: &[T], better: Ordering, nan_first: bool) -> u32 {
    let mut best = 0;
    for k in 1..terms.len() {
        let (old, new) = (terms[best].not_a_number(), terms[k].not_a_number());
        let wins = match (old, new) {
            (false, false) => T::order(terms[k], terms[best]) == Some(better),
            (true, true) => false,
            (false, true) => nan_first,
            (true, false) => !nan_first,
        };
        if wins {
            best = k;
        }
    }
    best as u32
}

/// Checks the results of one matrix, as the kernel broadcasts them back.
struct Check<'a, T, const N: usize, const M: usize> {
    failures: &'a mut Failures,
    device: &'a Device,
    operands: Operands,
    x: &'a [T],
    axis: Option<usize>,
}

impl<T: Reference, const N: usize, const M: usize> Check<'_, T, N, M> {
    fn terms(&self, i: usize) -> Vec<T> {
        group([N, M], self.axis, i).into_iter().map(|k| self.x[k]).collect()
    }

    fn label(&self, name: &str) -> String {
        let along = self.axis.map_or("all axes".to_owned(), |axis| format!("axis {axis}"));
        format!("{name} along {along} of {N} x {M}, {:?}", self.operands)
    }

    /// `one(terms)` for each element, computed once for all that reduce together.
    fn each<V: Copy>(&self, one: impl Fn(&[T]) -> V) -> Vec<V> {
        let mut results = vec![None; N * M];
        for i in 0..N * M {
            if results[i].is_none() {
                let result = Some(one(&self.terms(i)));
                group([N, M], self.axis, i).into_iter().for_each(|k| results[k] = result);
            }
        }
        results.into_iter().flatten().collect()
    }

    fn fold(&mut self, name: &str, got: &[T], combine: fn(T, T) -> T) {
        let expected = self.each(|terms| terms.iter().copied().reduce(combine).unwrap());
        self.failures.exact(self.device, &self.label(name), got, |i| expected[i]);
    }

    fn sum(&mut self, got: &[T]) {
        if wraps::<T>() || self.operands == Operands::Units {
            self.fold("sum", got, T::plus);
        } else if self.operands == Operands::Random {
            let bounds = self.each(|terms| {
                let exact: f64 = terms.iter().map(|x| x.wide()).sum();
                let sizes: f64 = terms.iter().map(|x| x.wide().abs()).sum();
                (exact, error_of_sum::<T>(terms.len() as f64, exact, sizes))
            });
            self.failures.verify(self.device, &self.label("sum"), got, |i, value| {
                let (exact, bound) = bounds[i];
                let close = (value.wide() - exact).abs() <= bound;
                (!close).then(|| format!("{exact} within {bound}"))
            });
        }
    }

    fn product(&mut self, got: &[T]) {
        if wraps::<T>() || self.operands == Operands::Powers {
            self.fold("product", got, T::times);
        }
    }

    fn position(&mut self, name: &str, got: &[u32], better: Ordering, nan_first: bool) {
        let expected = self.each(|terms| position(terms, better, nan_first));
        self.failures.exact(self.device, &self.label(name), got, |i| expected[i]);
    }
}

type Reductions<T, const N: usize, const M: usize> =
    Kernel<(Input<T, (D<N>, D<M>)>, Output<T, (D<7>, D<N>, D<M>)>, Output<u32, (D<4>, D<N>, D<M>)>)>;

fn check_reductions<T: Reference, const N: usize, const M: usize>(kernel: &Reductions<T, N, M>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for operands in Operands::ALL {
        let x = operands.make::<T>(N * M);
        for device in devices() {
            let operand = Tensor::from_slice(device, [N, M], &x).unwrap();
            let mut values = Tensor::poisoned(device, [7, N, M]).unwrap();
            let mut positions = Tensor::poisoned(device, [4, N, M]).unwrap();
            kernel.launch(device, 1, (&operand, &mut values, &mut positions)).unwrap();
            let (values, positions) = (values.to_vec().unwrap(), positions.to_vec().unwrap());
            let value = |k: usize| &values[k * N * M..][..N * M];
            let position = |k: usize| &positions[k * N * M..][..N * M];
            let failures = &mut failures;
            let mut check = Check::<T, N, M> { failures, device, operands, x: &x, axis: Some(0) };
            check.sum(value(0));
            check.product(value(1));
            check.fold("maximum", value(2), T::larger);
            check.fold("minimum", value(3), T::smaller);
            check.fold("maximum, propagating NaN", value(4), T::larger_or_nan);
            check.fold("minimum, propagating NaN", value(5), T::smaller_or_nan);
            let magnitudes = check.each(|terms| {
                terms.iter().fold(T::small(0), |a, &b| T::larger(T::magnitude(a), T::magnitude(b)))
            });
            check.failures.exact(device, &check.label("greatest magnitude"), value(6), |i| magnitudes[i]);
            check.position("argmax", position(0), Greater, false);
            check.position("argmin", position(1), Less, false);
            check.position("argmax, propagating NaN", position(2), Greater, true);
            check.position("argmin, propagating NaN", position(3), Less, true);
        }
    }
}

#[test]
fn every_reduction_of_every_type() {
    fn check<T: Reference>(kernel: &Reductions<T, 8, 32>) {
        check_reductions(kernel);
    }
    for_types!(check, kernels::reductions_of_8_32: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    check_reductions(kernels::reductions_of_4_16::<f32>());
    check_reductions(kernels::reductions_of_4_16::<i64>());
}

type Axes<T, const N: usize, const M: usize> =
    Kernel<(Input<T, (D<N>, D<M>)>, Output<T, (D<6>, D<N>, D<M>)>, Output<u32, (D<3>, D<N>, D<M>)>)>;

fn check_axes<T: Reference, const N: usize, const M: usize>(kernel: &Axes<T, N, M>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for operands in Operands::ALL {
        let x = operands.make::<T>(N * M);
        for device in devices() {
            let operand = Tensor::from_slice(device, [N, M], &x).unwrap();
            let mut values = Tensor::poisoned(device, [6, N, M]).unwrap();
            let mut positions = Tensor::poisoned(device, [3, N, M]).unwrap();
            kernel.launch(device, 1, (&operand, &mut values, &mut positions)).unwrap();
            let (values, positions) = (values.to_vec().unwrap(), positions.to_vec().unwrap());
            for (k, axis) in [Some(0), Some(1), None].into_iter().enumerate() {
                let failures = &mut failures;
                let mut check = Check::<T, N, M> { failures, device, operands, x: &x, axis };
                check.sum(&values[k * N * M..][..N * M]);
                check.fold("maximum", &values[(k + 3) * N * M..][..N * M], T::larger);
                check.position("argmin", &positions[k * N * M..][..N * M], Less, false);
            }
        }
    }
}

#[test]
fn every_axis_in_blocks_of_every_size() {
    check_axes(kernels::axes_of_64_16::<f32>());
    check_axes(kernels::axes_of_64_16::<i64>());
    check_axes(kernels::axes_of_64_16::<f16>());
    check_axes(kernels::axes_of_4_128::<f32>());
    check_axes(kernels::axes_of_4_128::<u16>());
    check_axes(kernels::axes_of_2_2::<f32>());
    check_axes(kernels::axes_of_2_2::<i32>());
    check_axes(kernels::axes_of_64_32::<f32>());
    check_axes(kernels::axes_of_1_2048::<i8>());
    check_axes(kernels::axes_of_1_2048::<bf16>());
    check_axes(kernels::axes_of_1024_1::<f32>());
    check_axes(kernels::axes_of_1024_1::<u8>());
}

/// A tensor's elements, reduced along an axis (or all) and broadcast back.
fn reduced<T: Reference, const R: usize>(
    shape: [usize; R],
    x: &[T],
    axis: impl Into<Option<usize>>,
    combine: fn(T, T) -> T,
) -> Vec<T> {
    let axis = axis.into();
    let all = axis.is_none().then(|| x.iter().copied().reduce(combine).unwrap());
    let one = |i| group(shape, axis, i).into_iter().map(|k| x[k]).reduce(combine).unwrap();
    (0..x.len()).map(|i| all.unwrap_or_else(|| one(i))).collect()
}

type HighRank<T> = Kernel<(
    Input<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<T, (D<8>, D<8>, D<4>, D<16>)>,
    Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<T, (D<2>, D<4>, D<4>, D<16>)>,
    Output<u32, (D<2>, D<4>, D<4>, D<16>)>,
)>;

fn check_high_rank<T: Reference>(kernel: &HighRank<T>) {
    const SHAPE: [usize; 4] = [2, 4, 4, 16];
    let x = Operands::Units.make::<T>(512);
    let mut failures = Failures::new::<T>("high_rank");
    for device in devices() {
        let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
        let mut rank_3 = Tensor::poisoned(device, [8, 8, 4, 16]).unwrap();
        let [mut first, mut second, mut third, mut fourth, mut all] =
            [0; 5].map(|_| Tensor::poisoned(device, SHAPE).unwrap());
        let mut inner = Tensor::poisoned(device, SHAPE).unwrap();
        let results = (&mut first, &mut second, &mut third, &mut fourth, &mut all, &mut inner);
        let arguments =
            (&operand, &mut rank_3, results.0, results.1, results.2, results.3, results.4, results.5);
        kernel.launch(device, 1, arguments).unwrap();
        let axes = [Some(0), Some(1), Some(2), None];
        for (k, got) in rank_3.to_vec().unwrap().chunks(512).enumerate() {
            let combine: fn(T, T) -> T = if k < 4 { T::plus } else { T::larger };
            let expected = reduced([8, 4, 16], &x, axes[k % 4], combine);
            failures.exact(device, &format!("rank 3, row {k}"), got, |i| expected[i]);
        }
        for (axis, got) in [&first, &second, &third, &fourth].into_iter().enumerate() {
            let expected = reduced(SHAPE, &x, axis, T::plus);
            failures.exact(device, &format!("rank 4, axis {axis}"), &got.to_vec().unwrap(), |i| expected[i]);
        }
        let expected = reduced(SHAPE, &x, None, T::plus);
        failures.exact(device, "rank 4, all", &all.to_vec().unwrap(), |i| expected[i]);
        failures.exact(device, "rank 4, argmin along axis 2", &inner.to_vec().unwrap(), |i| {
            let terms: Vec<T> = group(SHAPE, Some(2), i).into_iter().map(|k| x[k]).collect();
            position(&terms, Less, false)
        });
    }
}

#[test]
fn ranks_3_and_4() {
    for_types!(check_high_rank, kernels::high_rank: i32 u8 f32);
}

type Chains<T> = Kernel<(
    Input<T, (D<4>, D<8>, D<16>)>,
    Input<T, (D<4>, D<8>, D<1>)>,
    Output<T, (D<8>, D<4>, D<8>, D<16>)>,
    Output<u32, (D<4>, D<8>, D<16>)>,
)>;

fn check_chains<T: Reference>(kernel: &Chains<T>) {
    const SHAPE: [usize; 3] = [4, 8, 16];
    const LEN: usize = 512;
    let x = Operands::Units.make::<T>(LEN);
    let column: Vec<T> = (0..32).map(|i| T::small((i % 5) as i8)).collect();
    let sums = reduced(SHAPE, &x, 0, T::plus);
    let sums_1 = reduced(SHAPE, &x, 1, T::plus);
    let sums_2 = reduced(SHAPE, &x, 2, T::plus);
    let threshold = reduced(SHAPE, &reduced(SHAPE, &x, 2, T::smaller), 0, T::larger);
    let whole = reduced(SHAPE, &reduced(SHAPE, &sums_2, 1, T::plus), 0, T::plus);
    let rows: [(&str, Vec<T>); 8] = [
        ("maximum of sums", reduced(SHAPE, &sums, 1, T::larger)),
        ("sum of maxima", reduced(SHAPE, &reduced(SHAPE, &x, 1, T::larger), 2, T::plus)),
        ("sum of sums of sums", whole),
        ("sums minus sums", (0..LEN).map(|i| T::minus(sums[i], sums_1[i])).collect()),
        ("maximum with sums", (0..LEN).map(|i| T::larger(x[i], sums_1[i])).collect()),
        (
            "selection by a reduced threshold",
            (0..LEN)
                .map(|i| {
                    let above = T::order(x[i], threshold[i]) == Some(Greater);
                    if above { x[i] } else { threshold[i] }
                })
                .collect(),
        ),
        ("reshaped sums", sums.clone()),
        ("sums times a loaded column", (0..LEN).map(|i| T::times(sums_2[i], column[i / 16])).collect()),
    ];
    let mut failures = Failures::new::<T>("chains");
    for device in devices() {
        let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
        let loaded = Tensor::from_slice(device, [4, 8, 1], &column).unwrap();
        let mut results = Tensor::poisoned(device, [8, 4, 8, 16]).unwrap();
        let mut positions = Tensor::poisoned(device, SHAPE).unwrap();
        kernel.launch(device, 1, (&operand, &loaded, &mut results, &mut positions)).unwrap();
        for ((name, expected), got) in rows.iter().zip(results.to_vec().unwrap().chunks(LEN)) {
            failures.exact(device, name, got, |i| expected[i]);
        }
        failures.exact(device, "argmax of sums", &positions.to_vec().unwrap(), |i| {
            let terms: Vec<T> = group(SHAPE, Some(2), i).into_iter().map(|k| sums[k]).collect();
            position(&terms, Greater, false)
        });
    }
}

#[test]
fn reductions_of_reductions() {
    for_types!(check_chains, kernels::chains: i32 i8 f32 f64);
}

type ReducedStores<T> = Kernel<(
    Input<T, (D<32>, D<32>)>,
    Output<T, (D<2>, D<32>)>,
    Output<T, (D<2>, D<32>)>,
    Output<T, (D<1>,)>,
)>;

fn check_reduced_stores<T: Reference>(kernel: &ReducedStores<T>) {
    let x = Operands::Units.make::<T>(1024);
    let mut failures = Failures::new::<T>("reduced_stores");
    for device in devices() {
        let operand = Tensor::from_slice(device, [32, 32], &x).unwrap();
        let mut along_0 = Tensor::poisoned(device, [2, 32]).unwrap();
        let mut along_1 = Tensor::poisoned(device, [2, 32]).unwrap();
        let mut all = Tensor::poisoned(device, [1]).unwrap();
        kernel.launch(device, 1, (&operand, &mut along_0, &mut along_1, &mut all)).unwrap();
        let sums = [Some(0), Some(1), None].map(|axis| reduced([32, 32], &x, axis, T::plus));
        failures.exact(device, "along axis 0", &along_0.to_vec().unwrap(), |i| sums[0][i % 32]);
        failures.exact(device, "along axis 1", &along_1.to_vec().unwrap(), |i| sums[1][i % 32 * 32]);
        failures.exact(device, "of all", &all.to_vec().unwrap(), |_| sums[2][0]);
    }
}

#[test]
fn reduced_tiles_are_stored() {
    for_types!(check_reduced_stores, kernels::reduced_stores: i32 f32 f64 bf16);
}

#[test]
fn truths() {
    let mut random = Random::new(72);
    let mut failures = Failures::new::<bool>("truths");
    // Rows and columns that are all true, all false, and mixed; then tensors of one kind.
    let mixed: Vec<bool> = (0..1024)
        .map(|i| {
            if i / 64 < 4 {
                true
            } else if i / 64 < 8 {
                false
            } else {
                random.below(9) != 0
            }
        })
        .collect();
    for x in [mixed, vec![true; 1024], vec![false; 1024], random_values(73, 1024)] {
        for device in devices() {
            let operand = Tensor::from_slice(device, [16, 64], &x).unwrap();
            let mut results = Tensor::poisoned(device, [6, 16, 64]).unwrap();
            kernels::truths.launch(device, 1, (&operand, &mut results)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(1024).enumerate() {
                let axis = [Some(0), Some(1), None][k % 3];
                failures.exact(device, if k < 3 { "any" } else { "all" }, got, |i| {
                    let mut terms = group([16, 64], axis, i).into_iter().map(|k| x[k]);
                    if k < 3 { terms.any(|x| x) } else { terms.all(|x| x) }
                });
            }
        }
    }
}

type LargeSums<T> = Kernel<(Input<T, (D<2>, D<16384>)>, Output<T, (D<16384>,)>, Output<T, (D<1>,)>)>;

fn check_large_sums<T: Reference>(kernel: &LargeSums<T>) {
    let mut failures = Failures::new::<T>("large_sums");
    for (operands, device) in [Operands::Units, Operands::Random]
        .into_iter()
        .flat_map(|x| devices().iter().map(move |device| (x, device)))
    {
        let x = operands.make::<T>(32_768);
        let operand = Tensor::from_slice(device, [2, 16_384], &x).unwrap();
        let mut pairs = Tensor::poisoned(device, [16_384]).unwrap();
        let mut all = Tensor::poisoned(device, [1]).unwrap();
        kernel.launch(device, 1, (&operand, &mut pairs, &mut all)).unwrap();
        failures.exact(device, "pairs", &pairs.to_vec().unwrap(), |i| T::plus(x[i], x[i + 16_384]));
        let all = all.to_vec().unwrap();
        if wraps::<T>() || operands == Operands::Units {
            let sum = x.iter().copied().reduce(T::plus).unwrap();
            failures.exact(device, "all", &all, |_| sum);
        } else {
            let exact: f64 = x.iter().map(|x| x.wide()).sum();
            let size = x.iter().map(|x| x.wide().abs()).sum();
            let bound = error_of_sum::<T>(32_768.0, exact, size);
            failures.verify(device, "all", &all, |_, value| {
                let close = (value.wide() - exact).abs() <= bound;
                (!close).then(|| format!("{exact} within {bound}"))
            });
        }
    }
}

#[test]
fn sums_larger_than_the_scratch_memory() {
    for_types!(check_large_sums, kernels::large_sums: f32 bf16 i32 u8);
}

type PartialSums<T, R> =
    Kernel<(Input<T, (D<3>, D<16>, D<32>)>, Input<R, (D<16>, D<32>)>, Output<R, (D<3>, D<16>, D<32>)>)>;

fn check_partial_sums<T: Reference, R: Reference>(kernel: &PartialSums<T, R>) {
    const SHAPE: [usize; 2] = [16, 32];
    let mut failures = Failures::new::<T>("partial_sums");
    let mut random = Random::new(93);
    let x = Operands::Units.make::<T>(3 * 512);
    let factors: Vec<R> =
        (0..512).map(|_| R::narrow(f64::from(u8::from(random.below(24) == 0)) + 1.0)).collect();
    let expected = |axis, i| {
        let members = group(SHAPE, axis, i);
        let factor = members.iter().map(|&k| factors[k].wide()).fold(0.0, f64::max);
        let sum = x
            .chunks(512)
            .fold(0.0, |sum, x| sum * factor + members.iter().map(|&k| x[k].wide()).sum::<f64>());
        R::narrow(sum)
    };
    for device in devices() {
        let operand = Tensor::from_slice(device, [3, 16, 32], &x).unwrap();
        let multipliers = Tensor::from_slice(device, SHAPE, &factors).unwrap();
        let mut results = Tensor::poisoned(device, [3, 16, 32]).unwrap();
        kernel.launch(device, 1, (&operand, &multipliers, &mut results)).unwrap();
        let axes = [("along axis 0", Some(0)), ("along axis 1", Some(1)), ("of all", None)];
        for ((name, axis), got) in axes.into_iter().zip(results.to_vec().unwrap().chunks(512)) {
            failures.exact(device, name, got, |i| expected(axis, i));
        }
    }
}

#[test]
fn partial_sums_are_put_together_once() {
    check_partial_sums(kernels::partial_sums::<i32, i32>());
    check_partial_sums(kernels::partial_sums::<f32, f32>());
    check_partial_sums(kernels::partial_sums::<f64, f64>());
    check_partial_sums(kernels::partial_sums::<f16, f32>());
    check_partial_sums(kernels::partial_sums::<bf16, f32>());
}

type BitReductions<T> = Kernel<(Input<T, (D<8>, D<32>)>, Output<T, (D<9>, D<8>, D<32>)>)>;

fn check_bits<T: Value + Logical>(kernel: &BitReductions<T>) {
    let mut failures = Failures::new::<T>("bits_of_8_32");
    for seed in 80..84 {
        let x = random_values::<T>(seed, 256);
        for device in devices() {
            let operand = Tensor::from_slice(device, [8, 32], &x).unwrap();
            let mut results = Tensor::poisoned(device, [9, 8, 32]).unwrap();
            kernel.launch(device, 1, (&operand, &mut results)).unwrap();
            for (row, got) in results.to_vec().unwrap().chunks(256).enumerate() {
                let axis = [Some(0), Some(1), None][row % 3];
                let combine: fn(T, T) -> T = [Logical::and, Logical::or, Logical::xor][row / 3];
                failures.exact(device, &format!("row {row}"), got, |i| {
                    group([8, 32], axis, i).into_iter().map(|k| x[k]).reduce(combine).unwrap()
                });
            }
        }
    }
}

#[test]
fn bits_of_every_type() {
    for_types!(check_bits, kernels::bits_of_8_32: bool i8 i16 i32 i64 u8 u16 u32 u64);
}

type SeveralAxes<T> = Kernel<(Input<T, (D<2>, D<4>, D<4>, D<16>)>, Output<T, (D<12>, D<4>, D<4>, D<16>)>)>;

fn check_several_axes<T: Reference>(kernel: &SeveralAxes<T>) {
    const SHAPE: [usize; 4] = [2, 4, 4, 16];
    let mut failures = Failures::new::<T>("several_axes");
    for operands in [Operands::Units, Operands::Powers] {
        let x = operands.make::<T>(512);
        let over = |axes: &[usize], combine: fn(T, T) -> T| {
            axes.iter().fold(x.clone(), |x, &axis| reduced(SHAPE, &x, axis, combine))
        };
        let larger: fn(T, T) -> T = |a, b| T::larger(T::magnitude(a), T::magnitude(b));
        // Sums are exact on units, products on powers of two.
        let (sums, products) = match operands {
            Operands::Units => (true, wraps::<T>()),
            _ => (wraps::<T>(), true),
        };
        let rows = [
            (sums, over(&[0, 2], T::plus)),
            (sums, over(&[0, 2], T::plus)),
            (products, over(&[1, 3], T::times)),
            (true, over(&[0, 1, 3], T::larger)),
            (true, over(&[0, 1, 2, 3], T::smaller)),
            (true, over(&[2, 3], larger)),
        ];
        for device in devices() {
            let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
            let mut results = Tensor::poisoned(device, [12, 4, 4, 16]).unwrap();
            kernel.launch(device, 1, (&operand, &mut results)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(512).enumerate() {
                let (exact, expected) = &rows[k];
                if *exact {
                    failures.exact(device, &format!("row {k}, {operands:?}"), got, |i| expected[i]);
                }
            }
        }
    }
}

#[test]
fn several_axes_at_once() {
    for_types!(check_several_axes, kernels::several_axes: i32 u8 f32);
}

#[test]
fn counts_of_true_elements() {
    let mut failures = Failures::new::<bool>("counts");
    for x in [random_values::<bool>(74, 1024), vec![true; 1024], vec![false; 1024]] {
        for device in devices() {
            let operand = Tensor::from_slice(device, [16, 64], &x).unwrap();
            let mut results = Tensor::poisoned(device, [3, 16, 64]).unwrap();
            let mut truths = Tensor::poisoned(device, [2, 16, 64]).unwrap();
            kernels::counts.launch(device, 1, (&operand, &mut results, &mut truths)).unwrap();
            for (row, got) in results.to_vec().unwrap().chunks(1024).enumerate() {
                let axis = [Some(0), Some(1), None][row];
                failures.exact(device, &format!("row {row}"), got, |i| {
                    group([16, 64], axis, i).into_iter().filter(|&k| x[k]).count() as u32
                });
            }
            let truths = truths.to_vec().unwrap();
            failures.exact(device, "any", &truths[..1024], |_| x.contains(&true));
            failures.exact(device, "all", &truths[1024..], |_| !x.contains(&false));
        }
    }
}

type Rounded<T> = Kernel<(Input<T, (D<16>, D<64>)>, Output<T, (D<8>, D<16>, D<64>)>)>;

fn check_rounded<T: Reference>(kernel: &Rounded<T>) {
    const SHAPE: [usize; 2] = [16, 64];
    let mut failures = Failures::new::<T>("rounded");
    // Numbers of both signs for sums; for products numbers near 1.
    let numbers = Operands::Random.make::<T>(1024);
    let mut random = Random::new(75);
    let near_one: Vec<T> = (0..1024).map(|_| T::narrow(1.0 + random.unit() / 64.0)).collect();
    // Of 16 bits, results round from f32.
    let unit = roundoff_of_sums::<T>();
    let last = if unit < roundoff::<T>() { roundoff::<T>() } else { 0.0 };
    for (x, products) in [(numbers, false), (near_one, true)] {
        for device in devices() {
            let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
            let mut results = Tensor::poisoned(device, [8, 16, 64]).unwrap();
            kernel.launch(device, 1, (&operand, &mut results)).unwrap();
            for (row, got) in results.to_vec().unwrap().chunks(1024).enumerate() {
                let axis = [Some(0), Some(1), None].get(row).copied().unwrap_or(Some(1));
                if products != (row >= 6) {
                    continue;
                }
                failures.verify(device, &format!("row {row}"), got, |i, value| {
                    let terms: Vec<f64> = group(SHAPE, axis, i).into_iter().map(|k| x[k].wide()).collect();
                    let n = terms.len() as f64;
                    let (sum, size): (f64, f64) = (terms.iter().sum(), terms.iter().map(|x| x.abs()).sum());
                    let product: f64 = terms.iter().product();
                    // Any rounding errs by 2 u at most; the slack is that of this computation in f64.
                    let slack = n * 2f64.powi(-53);
                    let (exact, bound) = if row < 3 {
                        (sum / n, (n + 1.0) * unit * size / n)
                    } else if row < 6 {
                        (sum, 2.0 * n * unit * size)
                    } else {
                        (product, 4.0 * n * unit * product)
                    };
                    let slack = slack * if row < 6 { size } else { product };
                    let bound = bound + last * if row < 3 { 1.0 } else { 2.0 } * (exact.abs() + bound);
                    let error = value.wide() - exact;
                    let directed = match row {
                        4 | 6 => error <= slack,
                        5 | 7 => error >= -slack,
                        _ => true,
                    };
                    (error.abs() > bound + slack || !directed).then(|| format!("{exact} within {bound}"))
                });
            }
        }
    }
}

#[test]
fn detail_21_rounding_of_sums_and_products() {
    for_types!(check_rounded, kernels::rounded: f16 bf16 f32 f64);
}

// On every device `every_reduction_of_every_type` tests the same.
#[test]
fn detail_22_nan_and_zeros_of_both_signs() {
    cuda_tiles::cpu::block(|cx| {
        let nan = cx.full(shape![4], f32::NAN);
        assert!(nan.max::<0>().item().is_nan());
        assert_eq!(nan.argmax::<0>().item(), 0);
        let t = cx.iota::<u32>(shape![4]).map(|i| [-0.0, 0.0, f32::NAN, -1.0][i as usize]);
        assert_eq!(t.max::<0>().item().to_bits(), 0);
        assert_eq!((t.argmin::<0>().item(), t.argmax_with::<0>(PropagateNan).item()), (3, 2));
        assert!(t.min_with::<0>(PropagateNan).item().is_nan());
    });
}

#[test]
fn detail_33_the_axis_stays_and_so_does_the_type() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.full(shape![4, 64], 100i8);
        let sums: Tile<i8, Shape2<4, 1>, _> = t.sum::<1>();
        let places: Tile<u32, Shape2<1, 64>, _> = t.argmax::<0>();
        let all: Tile<i8, Shape0, _> = t.sum::<ALL>();
        assert_eq!((sums.at([3, 0]), places.at([0, 5]), all.item()), (6400i32 as i8, 0, 25_600i32 as i8));
    });
}
