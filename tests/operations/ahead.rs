//! Tiles that a block copies ahead, against plain Rust.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Random, Value, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::mma::KLoopElement;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor, TensorView};
use cuda_tiles_test_kernels::ahead as kernels;

const SHAPES: [[usize; 2]; 7] = [[1, 1], [3, 63], [8, 64], [9, 65], [5, 256], [17, 500], [8, 1001]];

/// Copies matrices that start `from` elements into their memory, with rows of any length.
fn check_copies<T: Value>(kernel: &Kernel<(Span<T, (u32, u32)>, SpanMut<T, (u32, u32)>)>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for device in devices() {
        for shape @ [rows, columns] in SHAPES {
            for from in [0, 1, 4, 5, 16] {
                let x = random_values::<T>(301, rows * columns + from);
                let operand = Tensor::from_slice(device, [x.len()], &x).unwrap();
                let source: TensorView<'_, T, 2> = operand.view().strided(from, shape, [columns, 1]).unwrap();
                let mut y = Tensor::poisoned(device, shape).unwrap();
                kernel.launch(device, Grid::cover([rows], [8]), (source, &mut y)).unwrap();
                let label = format!("copy of {shape:?} from {from}");
                failures.exact(device, &label, &y.to_vec().unwrap(), |i| x[i + from]);
            }
        }
    }
}

#[test]
fn tiles_of_any_alignment() {
    check_copies(kernels::copied::<u8>());
    check_copies(kernels::copied::<f16>());
    check_copies(kernels::copied::<f32>());
    check_copies(kernels::copied::<f64>());
}

fn check_columns<T: Value>(kernel: &Kernel<(Span<T, (u32, u32), Left>, SpanMut<T, (u32, u32)>)>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for device in devices() {
        for shape @ [rows, columns] in SHAPES {
            let x = random_values::<T>(302, rows * columns);
            let operand = Tensor::from_slice(device, [x.len()], &x).unwrap();
            let source: TensorView<'_, T, 2> = operand.view().strided(0, shape, [1, rows]).unwrap();
            let mut y = Tensor::poisoned(device, shape).unwrap();
            kernel.launch(device, Grid::cover([rows], [8]), (source, &mut y)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
                x[i / columns + i % columns * rows]
            });
        }
    }
}

#[test]
fn tiles_of_column_major_tensors() {
    check_columns(kernels::copied_columns::<f16>());
    check_columns(kernels::copied_columns::<f32>());
}

fn check_windows<T: Value>(kernel: &Kernel<(Span<T, (u32, u32)>, SpanMut<T, (u32, u32, u32)>)>) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for device in devices() {
        for shape @ [rows, columns] in [[4, 200], [7, 33], [1, 64]] {
            let x = random_values::<T>(303, rows * columns);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut y = Tensor::poisoned(device, [1, 7 * 8, 64]).unwrap();
            kernel.launch(device, 1, (&operand, &mut y)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
                let (row, column) = ((i / 64 % 8) as i64 - 3, (i / 512 * 32 + i % 64) as i64 - 7);
                let inside = (0..rows as i64).contains(&row) && (0..columns as i64).contains(&column);
                if inside { x[row as usize * columns + column as usize] } else { T::ZERO }
            });
        }
    }
}

#[test]
fn tiles_that_reach_over_the_edges() {
    check_windows(kernels::windows::<f16>());
    check_windows(kernels::windows::<f32>());
}

/// Products of whole numbers, which are exact.
fn check_product<T>(
    kernel: &Kernel<(Span<T, (u32, u32)>, Span<T, (u32, u32)>, SpanMut<T::Accumulator, (u32, u32)>)>,
    transposed: bool,
) where
    T: KLoopElement<T> + Cast<f64>,
    f64: Cast<T> + Cast<T::Accumulator>,
    T::Accumulator: Value,
{
    let mut failures = Failures::new::<T>(kernel.description().name);
    let mut random = Random::new(304);
    for device in devices() {
        for [m, k, n] in [[64, 64, 64], [1, 1, 1], [65, 200, 70], [130, 513, 128], [64, 0, 8]] {
            let mut numbers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| random.below(4) as f64).collect() };
            let (a, b) = (numbers(m * k), numbers(k * n));
            let of = |numbers: &[f64]| numbers.iter().map(|&x| Cast::<T>::cast(x)).collect::<Vec<_>>();
            let (b_shape, b_of): ([usize; 2], &dyn Fn(usize, usize) -> usize) =
                if transposed { ([n, k], &|l, j| j * k + l) } else { ([k, n], &|l, j| l * n + j) };
            let x = Tensor::from_slice(device, [m, k], &of(&a)).unwrap();
            let y = Tensor::from_slice(device, b_shape, &of(&b)).unwrap();
            let mut c = Tensor::poisoned(device, [m, n]).unwrap();
            kernel.launch(device, Grid::cover([m, n], [64, 64]), (&x, &y, &mut c)).unwrap();
            failures.exact(device, &format!("{m} x {k} x {n}"), &c.to_vec().unwrap(), |i| {
                let (row, column) = (i / n, i % n);
                // `sum` begins with -0.
                Cast::cast((0..k).fold(0.0, |sum, l| sum + a[row * k + l] * b[b_of(l, column)]))
            });
        }
    }
}

#[test]
fn products_of_every_type() {
    check_product(kernels::product::<f16>(), false);
    check_product(kernels::product::<bf16>(), false);
    check_product(kernels::product::<tf32>(), false);
    check_product(kernels::product::<i8>(), false);
    check_product(kernels::product::<u8>(), false);
    check_product(kernels::product::<f64>(), false);
    check_product(kernels::product_transposed::<f16>(), true);
    check_product(kernels::product_transposed::<tf32>(), true);
    check_product(kernels::product_transposed::<i8>(), true);
    check_product(kernels::product_transposed::<f8e4m3>(), true);
}

/// Barriers of stages count the bytes of what is copied, in boxes that are inside and in last boxes.
fn check_what_is_inside<T>(
    kernel: &Kernel<(TmaLoad<T, Shape2<128, 64>>, TmaLoad<T, Shape2<64, 128>>, SpanMut<f32, (u32, u32)>)>,
) where
    T: Value + Cast<f64>,
    f64: Cast<T>,
{
    let mut failures = Failures::new::<T>(kernel.description().name);
    let mut random = Random::new(305);
    for device in devices() {
        for [m, k, n] in
            [[128, 64, 128], [1, 200, 8], [60, 64, 64], [130, 520, 72], [200, 8, 200], [300, 1000, 136]]
        {
            let mut numbers =
                |count: usize| -> Vec<f64> { (0..count).map(|_| random.below(4) as f64).collect() };
            let (a, b) = (numbers(m * k), numbers(k * n));
            let of = |numbers: &[f64]| numbers.iter().map(|&x| Cast::<T>::cast(x)).collect::<Vec<_>>();
            let x = Tensor::from_slice(device, [m, k], &of(&a)).unwrap();
            let y = Tensor::from_slice(device, [k, n], &of(&b)).unwrap();
            let mut c = Tensor::poisoned(device, [m, n]).unwrap();
            kernel.launch(device, Grid::cover([m, n], [128, 128]), (&x, &y, &mut c)).unwrap();
            failures.exact(device, &format!("{m} x {k} x {n}"), &c.to_vec().unwrap(), |i| {
                let (row, column) = (i / n, i % n);
                (0..k).fold(0.0, |sum, l| sum + a[row * k + l] * b[l * n + column]) as f32
            });
        }
    }
}

#[test]
fn products_of_what_is_inside() {
    check_what_is_inside(kernels::product_of_what_is_inside::<f16>());
    check_what_is_inside(kernels::product_of_what_is_inside::<bf16>());
}
