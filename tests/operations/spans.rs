//! Parts of spans, spans with their axes in another order, padded mappings, facts.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::span::{Exclusive, Mapping, ReadOnly};
use cuda_tiles_host::{Device, Grid, Launch, Tensor, TensorView, TensorViewMut};
use cuda_tiles_test_kernels::spans as kernels;

type Span2<T> = Span<T, (u32, u32)>;
type SpanMut2<T> = SpanMut<T, (u32, u32)>;

fn check_transposed<T: Value>(kernel: &Kernel<(Span2<T>, SpanMut2<T>, SpanMut2<T>)>) {
    let mut failures = Failures::new::<T>("transposed");
    for device in devices() {
        for shape @ [rows, columns] in [[1, 1], [32, 16], [33, 17], [5, 200], [96, 64], [131, 61]] {
            let x = random_values::<T>(111, rows * columns);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut loaded = Tensor::poisoned(device, [columns, rows]).unwrap();
            let mut stored = Tensor::poisoned(device, [columns, rows]).unwrap();
            kernel
                .launch(device, Grid::cover(shape, [32, 16]), (&operand, &mut loaded, &mut stored))
                .unwrap();
            let expected = |i: usize| x[i % rows * columns + i / rows];
            failures.exact(device, &format!("load of {shape:?}"), &loaded.to_vec().unwrap(), expected);
            failures.exact(device, &format!("store of {shape:?}"), &stored.to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn transposing_loads_and_stores() {
    for_types!(check_transposed, kernels::transposed: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type Whole<T> = Kernel<(Span<T, (Mult<u32, 64>, Mult<u32, 64>)>, SpanMut<T, (Mult<u32, 64>, Mult<u32, 64>)>)>;

fn check_transposed_whole<T: Value>(kernel: &Whole<T>) {
    let mut failures = Failures::new::<T>("transposed_whole");
    for device in devices() {
        for [rows, columns] in [[64, 64], [128, 192]] {
            let x = random_values::<T>(112, rows * columns);
            let operand = Tensor::from_slice(device, [rows, columns], &x).unwrap();
            let mut y = Tensor::poisoned(device, [columns, rows]).unwrap();
            kernel.launch(device, Grid::cover([columns, rows], [64, 64]), (&operand, &mut y)).unwrap();
            failures.exact(device, "transpose", &y.to_vec().unwrap(), |i| x[i % rows * columns + i / rows]);
        }
    }
}

#[test]
fn transposing_loads_of_whole_tiles() {
    for_types!(check_transposed_whole, kernels::transposed_whole: f16 f32);
}

type Span3<T> = Span<T, (u32, u32, u32)>;
type SpanMut3<T> = SpanMut<T, (u32, u32, u32)>;

fn check_permuted_3<T: Value>(kernel: &Kernel<(Span3<T>, SpanMut3<T>, SpanMut3<T>)>) {
    let mut failures = Failures::new::<T>("permuted_3");
    for device in devices() {
        for shape @ [a, b, c] in [[2, 4, 8], [3, 7, 19], [1, 1, 1], [5, 12, 32]] {
            let x = random_values::<T>(113, a * b * c);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut y = Tensor::poisoned(device, [c, a, b]).unwrap();
            let grid = Grid::cover([c, a, b], [8, 2, 4]);
            let mut turned = Tensor::poisoned(device, [b, c, a]).unwrap();
            kernel.launch(device, grid, (&operand, &mut y, &mut turned)).unwrap();
            failures.exact(device, &format!("load of {shape:?}"), &y.to_vec().unwrap(), |i| {
                let (k, i, j) = (i / b / a, i / b % a, i % b);
                x[(i * b + j) * c + k]
            });
            // turned.permute([1, 2, 0]) has the lengths (c, a, b) and gets what `y` gets.
            failures.exact(device, &format!("store of {shape:?}"), &turned.to_vec().unwrap(), |i| {
                let (j, k, i) = (i / a / c, i / a % c, i % a);
                x[(i * b + j) * c + k]
            });
        }
    }
}

type Span4<T> = Span<T, (u32, u32, u32, u32)>;

fn check_permuted_4<T: Value>(kernel: &Kernel<(Span4<T>, SpanMut<T, (u32, u32, u32, u32)>)>) {
    let mut failures = Failures::new::<T>("permuted_4");
    for device in devices() {
        for shape @ [a, b, c, d] in [[2, 8, 2, 16], [3, 5, 3, 17], [1, 9, 2, 33]] {
            let x = random_values::<T>(114, a * b * c * d);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut y = Tensor::poisoned(device, [c, d, a, b]).unwrap();
            kernel.launch(device, Grid::cover([c, d], [2, 16]), (&operand, &mut y)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |n| {
                let (k, l, i, j) = (n / b / a / d, n / b / a % d, n / b % a, n % b);
                x[((i * b + j) * c + k) * d + l]
            });
        }
    }
}

#[test]
fn permuted_axes_of_rank_3_and_4() {
    for_types!(check_permuted_3, kernels::permuted_3: u8 f16 f32 i64);
    for_types!(check_permuted_4, kernels::permuted_4: i16 f32);
}

/// The strides of a matrix in a mapping.
trait Placed: Mapping {
    fn place(rows: usize, columns: usize) -> [usize; 2];
}

impl<const K: usize> Placed for PaddedRight<K> {
    fn place(_: usize, columns: usize) -> [usize; 2] {
        [columns.next_multiple_of(K), 1]
    }
}

impl<const K: usize> Placed for PaddedLeft<K> {
    fn place(rows: usize, _: usize) -> [usize; 2] {
        [1, rows.next_multiple_of(K)]
    }
}

impl<const K: usize> Placed for Pitched<K> {
    fn place(_: usize, columns: usize) -> [usize; 2] {
        [columns.next_multiple_of(K) + 3 * K, 1]
    }
}

impl Placed for PitchedLeft {
    fn place(rows: usize, _: usize) -> [usize; 2] {
        [1, rows + 3]
    }
}

type CopyPadded<T, M, O> =
    Kernel<(TensorSpan<T, (u32, u32), ReadOnly, M>, TensorSpan<T, (u32, u32), Exclusive, O>)>;

fn check_padded<T: Value, M: Placed, O: Placed>(kernel: &CopyPadded<T, M, O>) {
    let mut failures = Failures::new::<(T, M, O)>("copy_padded");
    for device in devices() {
        for shape @ [rows, columns] in [[8, 32], [1, 1], [13, 37], [24, 71]] {
            let (from, to) = (M::place(rows, columns), O::place(rows, columns));
            let memory = |[down, across]: [usize; 2]| (rows - 1) * down + (columns - 1) * across + 1;
            let x = random_values::<T>(115, memory(from));
            let before = random_values::<T>(116, memory(to));
            let operand = Tensor::from_slice(device, [memory(from)], &x).unwrap();
            let mut results = Tensor::from_slice(device, [memory(to)], &before).unwrap();
            let source: TensorView<'_, T, 2> = operand.view().strided(0, shape, from).unwrap();
            let target: TensorViewMut<'_, T, 2> = results.view_mut().strided(0, shape, to).unwrap();
            kernel.launch(device, Grid::cover(shape, [8, 32]), (source, target)).unwrap();
            let mut expected = before;
            for i in 0..rows {
                for j in 0..columns {
                    expected[i * to[0] + j * to[1]] = x[i * from[0] + j * from[1]];
                }
            }
            failures
                .exact(device, &format!("copy of {shape:?}"), &results.to_vec().unwrap(), |i| expected[i]);
        }
    }
}

#[test]
fn padded_and_pitched_mappings() {
    check_padded(kernels::copy_padded::<f32, PaddedRight<8>, PaddedLeft<4>>());
    check_padded(kernels::copy_padded::<f32, PaddedLeft<8>, PaddedRight<16>>());
    check_padded(kernels::copy_padded::<f16, PaddedRight<3>, Pitched<8>>());
    check_padded(kernels::copy_padded::<u8, Pitched<8>, PitchedLeft>());
    check_padded(kernels::copy_padded::<f64, PitchedLeft, PaddedRight<5>>());
}

#[test]
fn parts_go_to_helper_functions() {
    let (rows, columns) = (9, 31);
    let x: Vec<i32> = (0..rows * columns).map(|i| i * i % 1009).collect();
    let cube: Vec<i32> = (0..3 * 7 * 6).map(|i| i * i % 503).collect();
    let sum = |wanted: &dyn Fn(i32, i32) -> bool| -> i32 {
        (0..rows * columns).filter(|i| wanted(i / columns, i % columns)).map(|i| x[i as usize]).sum()
    };
    let cube_at = |i: usize, j: usize, k: usize| cube[i + 3 * (j + 7 * k)];
    let (at, to) = (2, 7);
    let expected = [
        sum(&|i, _| (at..to).contains(&i)),
        sum(&|_, j| (at..to).contains(&j)),
        sum(&|i, j| i >= at && j <= to),
        sum(&|i, _| i < at),
        sum(&|i, _| i >= at),
        (0..rows * columns).filter(|i| (at..to).contains(&(i % rows))).map(|i| x[i as usize]).sum(),
        sum(&|i, _| i == at),
        sum(&|_, j| j == at),
        sum(&|i, _| (at..to).contains(&i)),
        (1..3).flat_map(|i| (0..7).map(move |j| cube_at(i, j, 5))).sum(),
        (1..4).map(|k| cube_at(2, 2, k)).sum(),
        1,
        rows * (to - at),
        0,
        1,
        at,
    ];
    for device in devices() {
        let operand = Tensor::from_slice(device, [9, 31], &x).unwrap();
        let memory = Tensor::from_slice(device, [126], &cube).unwrap();
        let cube: TensorView<'_, i32, 3> = memory.view().strided(0, [3, 7, 6], [1, 3, 21]).unwrap();
        let mut sums = Tensor::poisoned(device, [1, 16]).unwrap();
        kernels::sums_of_parts.launch(device, 1, (&operand, cube, &mut sums, at as u32, to as u32)).unwrap();
        assert_eq!(sums.to_vec().unwrap(), expected);
    }
}

/// Detail 48: bounds of slices are checked, which cuTile leaves to the caller.
#[test]
fn detail_48_parts_out_of_bounds_fail() {
    let device = Device::cpu();
    let x = Tensor::full(&device, [9, 31], 1).unwrap();
    let memory = Tensor::full(&device, [126], 1).unwrap();
    let mut sums = Tensor::zeros(&device, [1, 16]).unwrap();
    for (at, to, expected) in [
        (6_u32, 10_u32, "the range 6..10 does not lie within axis 0 of length 9"),
        (5, 4, "the range 5..4 does not lie within axis 0 of length 9"),
        (10, 10, "the range 0..10 does not lie within axis 0 of length 9"),
        (8, 9, "index 8 is not below the length 7 of axis 1"),
    ] {
        let cube: TensorView<'_, i32, 3> = memory.view().strided(0, [3, 7, 6], [1, 3, 21]).unwrap();
        let error = kernels::sums_of_parts.launch(&device, 1, (&x, cube, &mut sums, at, to)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn parts_of_writable_spans() {
    for device in devices() {
        let (rows, columns, at) = (12, 21, 5);
        let mut y = Tensor::zeros(device, [rows, columns]).unwrap();
        kernels::fill_parts.launch(device, rows as u32, (&mut y, at as u32)).unwrap();
        for (n, found) in y.to_vec().unwrap().into_iter().enumerate() {
            let (i, j) = (n / columns, n % columns);
            let expected = match i {
                1 | 2 if (3..12).contains(&j) => 1,
                _ if i >= at && j >= at => 2,
                _ => 0,
            };
            assert_eq!(found, expected, "row {i}, column {j}");
        }
    }
}

/// Detail 46: a false assumption is undefined behaviour for the peers, and an error of the launch here.
#[test]
fn detail_46_facts_are_checked_at_launch() {
    for device in devices() {
        let x = Tensor::from_vec(device, [100], (0..100).collect::<Vec<i32>>()).unwrap();
        let mut y = Tensor::poisoned(device, [100]).unwrap();
        kernels::with_facts.launch(device, 2, (&x, &mut y, 48, -8_i64)).unwrap();
        assert_eq!(y.to_vec().unwrap(), (0..100).map(|i| i * 3 - 8).collect::<Vec<i32>>());
        let mut refused = |factor: i32, shift: i64| {
            kernels::with_facts.launch(device, 2, (&x, &mut y, factor, shift)).unwrap_err().to_string()
        };
        assert_eq!(
            refused(-47, 0),
            "kernel `with_facts`, argument 3 (`factor`): a number does not fit: it is -47, but the kernel is compiled for \
             multiples of 16"
        );
        assert_eq!(
            refused(16, 9),
            "kernel `with_facts`, argument 4 (`shift`): a number does not fit: it is 9, but the kernel is compiled for -8 to 8"
        );
        let long = Tensor::zeros(device, [4097]).unwrap();
        let message =
            kernels::with_facts.launch(device, 2, (&long, &mut y, 16, 0_i64)).unwrap_err().to_string();
        assert_eq!(
            message,
            "kernel `with_facts`, argument 1 (`x`): a tensor of shape [4097] and strides [1] does not fit: axis 0 has length \
             4097, but the kernel is compiled for 1 to 4096"
        );
    }
}

/// Detail 44: spans of which two elements share memory are refused at launch; views may overlap where they only load.
#[test]
fn detail_44_spans_are_injective() {
    for device in devices() {
        let x = Tensor::full(device, [64], 1_i32).unwrap();
        let rows: TensorView<'_, i32, 2> = x.view().strided(0, [4, 16], [0, 1]).unwrap();
        let mut sums = Tensor::zeros(device, [1, 16]).unwrap();
        let cube: TensorView<'_, i32, 3> = x.view().strided(0, [3, 3, 6], [1, 3, 9]).unwrap();
        let error = kernels::sums_of_parts.launch(device, 1, (rows, cube, &mut sums, 1, 2)).unwrap_err();
        assert!(error.to_string().contains("elements overlap along axis"), "{error}");
    }
}
