//! Integers of four bits: conversions between them and all other types, pairs, and ragged tensors of pairs.

use crate::casts::{Convert, Exact};
use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Random, values};
use cuda_tiles::element::Pair;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::four_bits as kernels;
use cuda_tiles_test_kernels::{Operand, Row, Rows};

/// The number with the lowest four `bits`.
fn number(bits: i128, signed: bool) -> i128 {
    let low = bits.rem_euclid(16);
    if signed && low >= 8 { low - 16 } else { low }
}

/// What `value` is as an integer of four bits: integers lose their upper bits, floats their fraction, and what is too large.
fn narrowed(value: Exact, signed: bool) -> i128 {
    let (least, greatest) = if signed { (-8.0, 7.0) } else { (0.0, 15.0) };
    match value {
        Exact::Integer(value) => number(value, signed),
        Exact::Real(value) if value.is_nan() => 0,
        Exact::Real(value) => value.trunc().clamp(least, greatest) as i128,
    }
}

fn halves(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [byte & 15, byte >> 4]).collect()
}

fn check_to<T: Element>(
    kernel: &Kernel<(Operand<T>, Row<i4x2>, Row<u4x2>)>,
    mut x: Vec<T>,
    exact: impl Fn(T) -> Exact,
) {
    x.resize(x.len().next_multiple_of(TILE), x[0]);
    let n = x.len();
    let mut failures = Failures::new::<T>("to_four_bits");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut signed = Tensor::poisoned(device, [n / 2]).unwrap();
        let mut unsigned = Tensor::poisoned(device, [n / 2]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut signed, &mut unsigned)).unwrap();
        let signed: Vec<u8> = signed.to_vec().unwrap().into_iter().map(i4x2::to_bits).collect();
        let unsigned: Vec<u8> = unsigned.to_vec().unwrap().into_iter().map(u4x2::to_bits).collect();
        for (name, bytes, is_signed) in [("i4", signed, true), ("u4", unsigned, false)] {
            failures.verify(device, name, &halves(&bytes), |i, bits| {
                let expected = narrowed(exact(x[i]), is_signed);
                (number(bits.into(), is_signed) != expected).then(|| format!("{expected} of {:?}", x[i]))
            });
        }
    }
}

/// Special and random values, and all quarters around the numbers of four bits.
fn trials<T: Convert>() -> Vec<T> {
    let near = (-80..=80).map(|quarters| T::convert(Exact::Real(f64::from(quarters) / 4.0)));
    near.chain(values::<T>(401, 200)).collect()
}

#[test]
fn every_type_to_four_bits() {
    macro_rules! check {
        (codes $($type:ident)*) => { $(
            let codes = (0..=255).map($type::from_bits).collect();
            check_to(kernels::to_four_bits::<$type>(), codes, |x| Exact::Real(x.to_f32().into()));
        )* };
        ($($type:ident)*) => { $( check_to(kernels::to_four_bits::<$type>(), trials::<$type>(), Convert::exact); )* };
    }
    check!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
    check!(codes f8e4m3 f8e5m2 f8e8m0 f8ue5m3);
    let x = trials::<f32>().into_iter().map(tf32::from_f32).collect();
    check_to(kernels::to_four_bits::<tf32>(), x, |x| Exact::Real(x.to_f32().into()));
}

type FromFourBits<P> = Kernel<(
    Operand<P>,
    Row<f32>,
    Row<f64>,
    Row<f16>,
    Row<bf16>,
    Row<i32>,
    Rows<u8, 3>,
    Rows<bool, 3>,
    Rows<P, 2>,
)>;

fn check_from<P: Pair>(kernel: &FromFourBits<P>, signed: bool) {
    let x: Vec<P> = (0..=255).map(<P as Element>::from_bits).collect();
    let numbers: Vec<i128> = (0..512).map(|i| number((i / 2) >> (4 * (i % 2)), signed)).collect();
    let n = numbers.len();
    let mut failures = Failures::new::<P>("from_four_bits");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n / 2], &x).unwrap();
        let mut singles = Tensor::<f32, 1>::poisoned(device, [n]).unwrap();
        let mut doubles = Tensor::<f64, 1>::poisoned(device, [n]).unwrap();
        let mut halves = Tensor::<f16, 1>::poisoned(device, [n]).unwrap();
        let mut brains = Tensor::<bf16, 1>::poisoned(device, [n]).unwrap();
        let mut words = Tensor::<i32, 1>::poisoned(device, [n]).unwrap();
        let mut bytes = Tensor::<u8, 2>::poisoned(device, [3, n]).unwrap();
        let mut tests = Tensor::<bool, 2>::poisoned(device, [3, n]).unwrap();
        let mut pairs = Tensor::<P, 2>::poisoned(device, [2, n / 2]).unwrap();
        let arguments = (
            &operand,
            &mut singles,
            &mut doubles,
            &mut halves,
            &mut brains,
            &mut words,
            &mut bytes,
            &mut tests,
            &mut pairs,
        );
        kernel.launch(device, Grid::cover([n], [TILE]), arguments).unwrap();
        let at = |i: usize| Exact::Integer(numbers[i]);
        failures.exact(device, "f32", &singles.to_vec().unwrap(), |i| Convert::convert(at(i)));
        failures.exact(device, "f64", &doubles.to_vec().unwrap(), |i| Convert::convert(at(i)));
        failures.exact(device, "f16", &halves.to_vec().unwrap(), |i| Convert::convert(at(i)));
        failures.exact(device, "bf16", &brains.to_vec().unwrap(), |i| Convert::convert(at(i)));
        failures.exact(device, "i32", &words.to_vec().unwrap(), |i| Convert::convert(at(i)));
        let bytes = bytes.to_vec().unwrap();
        failures.exact(device, "i8 and u8", &bytes[..2 * n], |i| Convert::convert(at(i % n)));
        failures.verify(device, "e4m3", &bytes[2 * n..], |i, bits| {
            let expected = numbers[i] as f32;
            (f8e4m3::from_bits(bits).to_f32() != expected).then(|| format!("{expected}"))
        });
        let is: [&dyn Fn(i128) -> bool; 3] = [&|x| x != 0, &|_| false, &|_| true];
        failures.exact(device, "bool, is_nan, eq", &tests.to_vec().unwrap(), |i| is[i / n](numbers[i % n]));
        failures.verify(device, "pairs", &pairs.to_vec().unwrap(), |i, pair| {
            let expected = x[i % x.len()];
            (pair.to_bits() != expected.to_bits()).then(|| format!("{expected:?}"))
        });
    }
}

#[test]
fn four_bits_to_every_type() {
    check_from::<i4x2>(kernels::from_four_bits::<i4x2>(), true);
    check_from::<u4x2>(kernels::from_four_bits::<u4x2>(), false);
}

type Ragged<P> = Kernel<(Span<P, (u32, u32)>, SpanMut<i8, (u32, u32)>, SpanMut<P, (u32, u32)>)>;

fn check_ragged<P: Pair>(kernel: &Ragged<P>, signed: bool) {
    let mut failures = Failures::new::<P>("ragged");
    let mut random = Random::new(402);
    for [rows, columns] in [[1usize, 1], [3, 31], [4, 32], [9, 33], [5, 67], [130, 200]] {
        let x: Vec<P> = (0..rows * columns).map(|_| <P as Element>::from_bits(random.bits() as u8)).collect();
        let codes: Vec<u8> = x.iter().map(|pair| pair.to_bits()).collect();
        let numbers = halves(&codes);
        for device in devices() {
            let operand = Tensor::from_slice(device, [rows, columns], &x).unwrap();
            let mut y = Tensor::poisoned(device, [rows, 2 * columns]).unwrap();
            let mut z = Tensor::<P, 2>::poisoned(device, [rows, columns]).unwrap();
            kernel.launch(device, Grid::cover([rows], [4]), (&operand, &mut y, &mut z)).unwrap();
            let place = format!("{rows} x {columns}");
            failures.exact(device, &place, &y.to_vec().unwrap(), |i| number(numbers[i].into(), signed) as i8);
            failures.verify(device, &place, &z.to_vec().unwrap(), |i, pair| {
                (pair.to_bits() != codes[i]).then(|| format!("{:?}", x[i]))
            });
        }
    }
}

#[test]
fn pairs_of_ragged_tensors() {
    check_ragged::<i4x2>(kernels::ragged::<i4x2>(), true);
    check_ragged::<u4x2>(kernels::ragged::<u4x2>(), false);
}
