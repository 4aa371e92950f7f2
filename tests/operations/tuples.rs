//! Reductions of tuples of tiles.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reduction_operands::{Operands, group};
use crate::test_values::random_values;
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_kernels::reductions as kernels;

#[test]
fn tuples_of_different_types() {
    const SHAPE: [usize; 2] = [64, 16];
    let x = random_values::<u8>(76, 1024);
    let mut failures = Failures::new::<(u8, i16, u32, u64)>("tuples");
    for device in devices() {
        let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
        let mut sums = Tensor::poisoned(device, [3, 64, 16]).unwrap();
        let mut minima = Tensor::poisoned(device, [3, 64, 16]).unwrap();
        let mut parities = Tensor::poisoned(device, [3, 64, 16]).unwrap();
        let mut maxima = Tensor::poisoned(device, [3, 64, 16]).unwrap();
        let results = (&operand, &mut sums, &mut minima, &mut parities, &mut maxima);
        kernels::tuples.launch(device, 1, results).unwrap();
        let places = |i: usize| group(SHAPE, [Some(0), Some(1), None][i / 1024], i % 1024);
        failures.exact(device, "sums", &sums.to_vec().unwrap(), |i| {
            places(i).iter().fold(0u8, |sum, &k| sum.wrapping_add(x[k]))
        });
        failures.exact(device, "minima", &minima.to_vec().unwrap(), |i| {
            places(i).iter().map(|&k| -i16::from(x[k])).min().unwrap()
        });
        failures.exact(device, "parities", &parities.to_vec().unwrap(), |i| {
            places(i).iter().fold(0, |parity, &k| parity ^ k as u32)
        });
        failures.exact(device, "maxima", &maxima.to_vec().unwrap(), |i| {
            places(i).iter().map(|&k| 2 * k as u64).max().unwrap()
        });
    }
}

#[test]
fn moments_in_one_pass() {
    const SHAPE: [usize; 2] = [32, 64];
    // A mean that is large against the deviation: sums of squares would cancel.
    let x: Vec<f32> = Operands::Random.make::<f32>(2048).into_iter().map(|x| 1000.0 + x).collect();
    let mut failures = Failures::new::<f32>("moments");
    for device in devices() {
        let operand = Tensor::from_slice(device, SHAPE, &x).unwrap();
        let mut means = Tensor::poisoned(device, [2, 32, 64]).unwrap();
        let mut squares = Tensor::poisoned(device, [2, 32, 64]).unwrap();
        kernels::moments.launch(device, 1, (&operand, &mut means, &mut squares)).unwrap();
        let exact = |i: usize| {
            let places = group(SHAPE, Some(i / 2048), i % 2048);
            let terms: Vec<f64> = places.into_iter().map(|k| f64::from(x[k])).collect();
            let mean = terms.iter().sum::<f64>() / terms.len() as f64;
            (mean, terms.iter().map(|x| (x - mean).powi(2)).sum::<f64>())
        };
        failures.verify(device, "mean", &means.to_vec().unwrap(), |i, value| {
            let (mean, _) = exact(i);
            ((f64::from(value) - mean).abs() > 1e-6 * mean).then(|| mean.to_string())
        });
        failures.verify(device, "squares", &squares.to_vec().unwrap(), |i, value| {
            let (_, square) = exact(i);
            ((f64::from(value) - square).abs() > 1e-3 * square).then(|| square.to_string())
        });
    }
}
