//! Modes: rounding in every direction against exact arithmetic, flushing, approximation.

use crate::devices::devices;
use crate::exact::{Direction, Exact, Format, is_rounded};
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Random, pairs, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::modes::{self as kernels, OPERATIONS, TILE};
use cuda_tiles_test_kernels::{Operand, Rows};

const NAMES: [&str; OPERATIONS] = ["a + b", "a - b", "a * b", "a / b", "a * b + c", "sqrt a"];
const DIRECTIONS: [Direction; 4] = [Direction::Nearest, Direction::Zero, Direction::Down, Direction::Up];

/// What operation `k` of exact operands must give, or where that is no number, what f64 gives.
fn wrong<T: Reference + Format>(
    k: usize,
    direction: Direction,
    flush: bool,
    operands: [T; 3],
    result: T,
) -> Option<String> {
    let flushed = |x: T| {
        let zero = if x.is_minus() { T::NEGATIVE_ZERO } else { <T as Element>::ZERO };
        if flush && x.magnitude() < T::LEAST_NORMAL { zero } else { x }
    };
    let [a, b, c] = operands.map(flushed);
    let (x, y, z) = (a.wide(), b.wide(), c.wide());
    let b_minus = b.is_minus() != (k == 1);
    let signs_differ = a.is_minus() != b.is_minus();
    let special = match k {
        0 => x + y,
        1 => x - y,
        2 => x * y,
        3 => x / y,
        4 => x.mul_add(y, z),
        _ => x.sqrt(),
    };
    let used = [x, y, z];
    let finite = used[..[2, 2, 2, 2, 3, 1][k]].iter().all(|x| x.is_finite());
    let verdict = if !finite || (k == 3 && y == 0.0) || (k == 5 && x < 0.0) {
        result.same(T::narrow(special))
    } else {
        let [a_exact, b_exact, c_exact] =
            used.map(|x| if x.is_finite() { Exact::new(x) } else { Exact::new(0.0) });
        let sum_of_zeros =
            |left: bool, right: bool| if left == right { left } else { direction == Direction::Down };
        let (value, minus_zero) = match k {
            0 => (a_exact.plus(&b_exact), sum_of_zeros(a.is_minus(), b_minus)),
            1 => (a_exact.plus(&b_exact.negated()), sum_of_zeros(a.is_minus(), b_minus)),
            2 => (a_exact.times(&b_exact), signs_differ),
            4 => (a_exact.times(&b_exact).plus(&c_exact), sum_of_zeros(signs_differ, c.is_minus())),
            3 => (a_exact.clone(), signs_differ),
            _ => (a_exact.clone(), a.is_minus()),
        };
        if value.is_zero() {
            result.magnitude() == 0 && result.is_minus() == minus_zero
        } else {
            is_rounded(result, direction, flush, |number| match k {
                3 => {
                    let order = a_exact.order(&number.times(&b_exact));
                    if b.is_minus() { order.reverse() } else { order }
                }
                5 => a_exact.order(&number.times(number)),
                _ => value.order(number),
            })
        }
    };
    (!verdict).then(|| format!("rounding {direction:?} of {:?}", &operands[..]))
}

/// Operands whose results are near the limits of the format, cancel, and lie near the middle of two numbers.
fn operands<T: Reference + Format>(seed: u64) -> [Vec<T>; 3] {
    let (a, b) = pairs::<T, T>(seed, 2000);
    let mut random = Random::new(seed);
    let c = a.iter().zip(&b).enumerate().map(|(i, (&a, &b))| match i % 3 {
        0 => T::SPECIAL[random.below(T::SPECIAL.len() as u64) as usize],
        1 => T::negated(T::times(a, b)),
        _ => T::random(&mut random),
    });
    let c = c.collect();
    [a, b, c]
}

type Rounding<T> = Kernel<(Operand<T>, Operand<T>, Operand<T>, Rows<T, { 4 * OPERATIONS }>)>;

fn check_rounding<T: Reference + Format>(kernel: &Rounding<T>, flush: bool) {
    let [a, b, c] = operands::<T>(31);
    let n = a.len();
    let mut failures = Failures::new::<T>(if flush { "flushing" } else { "rounding" });
    for device in devices() {
        let tensors = [&a, &b, &c].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        let mut results = Tensor::poisoned(device, [4 * OPERATIONS, n]).unwrap();
        let [x, y, z] = &tensors;
        kernel.launch(device, Grid::cover([n], [TILE]), (x, y, z, &mut results)).unwrap();
        for (row, got) in results.to_vec().unwrap().chunks(n).enumerate() {
            let (k, direction) = (row % OPERATIONS, DIRECTIONS[row / OPERATIONS]);
            failures.verify(device, NAMES[k], got, |i, value| {
                wrong(k, direction, flush, [a[i], b[i], c[i]], value)
            });
        }
    }
}

#[test]
fn detail_21_rounding() {
    check_rounding(kernels::rounding::<f16>(), false);
    check_rounding(kernels::rounding::<bf16>(), false);
    check_rounding(kernels::rounding::<f32>(), false);
    check_rounding(kernels::rounding::<f64>(), false);
}

#[test]
fn detail_21_flushing_keeps_signs_and_covers_operands_and_results() {
    check_rounding(&kernels::flushing, true);
}

/// With a zero of its sign in place of a subnormal number.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

#[test]
fn detail_22_extrema_that_flush() {
    let (a, b) = pairs::<f32, f32>(32, 500);
    let n = a.len();
    let mut failures = Failures::new::<f32>("flushing_extrema");
    let operations: [(&str, fn(f32, f32) -> f32); 4] = [
        ("minimum", Reference::smaller),
        ("maximum", Reference::larger),
        ("minimum, propagating NaN", Reference::smaller_or_nan),
        ("maximum, propagating NaN", Reference::larger_or_nan),
    ];
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        let mut results = Tensor::poisoned(device, [4, n]).unwrap();
        let grid = Grid::cover([n], [TILE]);
        kernels::flushing_extrema.launch(device, grid, (&left, &right, &mut results)).unwrap();
        for ((name, operation), got) in operations.iter().zip(results.to_vec().unwrap().chunks(n)) {
            failures.exact(device, name, got, |i| operation(flushed(a[i]), flushed(b[i])));
        }
    }
}

/// A function in f64, and how far the result may be off, which is `None` where nothing is promised.
type Approximation = (&'static str, fn(f64, f64) -> f64, fn(f64, f64, f64) -> Option<f64>);

/// The distance of f32 numbers around `x`.
fn unit(x: f64) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
    2f64.powi(exponent - 23)
}

const LEAST: f64 = f32::MIN_POSITIVE as f64;

/// Relative to the result, where operands and result are normal.
fn relative(x: f64, result: f64, error: f64) -> Option<f64> {
    let normal = |x: f64| x == 0.0 || (LEAST..=f64::from(f32::MAX)).contains(&x.abs());
    (normal(x) && normal(result)).then(|| result.abs() * error)
}

fn quotient(x: f64, y: f64, result: f64) -> Option<f64> {
    (y.abs() >= LEAST && y.abs() <= 2f64.powi(126)).then_some(())?;
    relative(x, result, 0.0).map(|_| 2.0 * unit(result))
}

fn full_quotient(x: f64, y: f64, result: f64) -> Option<f64> {
    (y.abs() >= LEAST && y.is_finite()).then_some(())?;
    relative(x, result, 0.0).map(|_| 2.0 * unit(result))
}

fn logarithm(x: f64, result: f64, error: f64) -> Option<f64> {
    let normal = (LEAST..2f64.powi(127)).contains(&x);
    let near_one = (0.5..2.0).contains(&x);
    normal.then(|| if near_one { 2f64.powi(-22) } else { result.abs() * error })
}

fn angle(x: f64) -> Option<f64> {
    (x.abs() <= std::f64::consts::TAU).then(|| 2f64.powi(-20))
}

fn exponential(x: f64, result: f64) -> Option<f64> {
    relative(1.0, result, 2f64.powi(-22) + x.abs() * 2f64.powi(-23))
}

const APPROXIMATIONS: [Approximation; 18] = [
    ("a / b, approximate", |x, y| x / y, quotient),
    ("a / b, full", |x, y| x / y, full_quotient),
    ("a / b, approximate, flushing", |x, y| x / y, quotient),
    ("a / b, full, flushing", |x, y| x / y, full_quotient),
    (
        "sqrt, approximate",
        |x, _| x.sqrt(),
        |x, _, r| relative(x, r, 2f64.powi(-23)).map(|e| e + unit(r) / 2.0),
    ),
    (
        "sqrt, approximate, flushing",
        |x, _| x.sqrt(),
        |x, _, r| relative(x, r, 2f64.powi(-23)).map(|e| e + unit(r) / 2.0),
    ),
    ("exp, approximate", |x, _| x.exp(), |x, _, r| exponential(x, r)),
    ("log, approximate", |x, _| x.ln(), |x, _, r| logarithm(x, r, 2f64.powi(-21))),
    ("log2, approximate", |x, _| x.log2(), |x, _, r| logarithm(x, r, 2f64.powi(-22))),
    ("sin, approximate", |x, _| x.sin(), |x, _, _| angle(x)),
    ("cos, approximate", |x, _| x.cos(), |x, _, _| angle(x)),
    ("tanh, approximate", |x, _| x.tanh(), |x, _, r| relative(x, r, 2f64.powi(-11))),
    ("exp2, approximate", |x, _| x.exp2(), |_, _, r| relative(1.0, r, 2f64.powi(-22))),
    ("rsqrt, approximate", |x, _| 1.0 / x.sqrt(), |x, _, r| relative(x, r, 0.0).map(|_| 2.0 * unit(r))),
    ("exp2, flushing", |x, _| x.exp2(), |_, _, r| relative(1.0, r, 2f64.powi(-22))),
    ("rsqrt, flushing", |x, _| 1.0 / x.sqrt(), |x, _, r| relative(x, r, 0.0).map(|_| 2.0 * unit(r))),
    ("exp, full", |x, _| x.exp(), |_, _, r| Some(2.0 * unit(r))),
    ("exp2, full", |x, _| x.exp2(), |_, _, r| Some(2.1 * unit(r))),
];

#[test]
fn detail_51_approximate_and_full() {
    let (mut a, mut b) = pairs::<f32, f32>(33, 0);
    a.extend(random_values::<f32>(34, 2048));
    b.extend(random_values::<f32>(35, 2048));
    let n = a.len();
    let mut failures = Failures::new::<f32>("approximate");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        let mut results = Tensor::poisoned(device, [APPROXIMATIONS.len(), n]).unwrap();
        let grid = Grid::cover([n], [TILE]);
        kernels::approximate.launch(device, grid, (&left, &right, &mut results)).unwrap();
        for ((name, function, allowed), got) in APPROXIMATIONS.iter().zip(results.to_vec().unwrap().chunks(n))
        {
            failures.verify(device, name, got, |i, value| {
                let (x, y) = (f64::from(a[i]), f64::from(b[i]));
                let expected = function(x, y);
                if !(expected as f32).is_finite() || !x.is_finite() || !y.is_finite() {
                    return None;
                }
                let off = (f64::from(value) - expected).abs();
                if name.contains("a / b, approximate") && y.abs() > 2f64.powi(126) {
                    let right = value == 0.0 || off <= 2.0 * unit(expected);
                    return (!right).then(|| format!("{expected:e} or 0 of {x:e} and {y:e}"));
                }
                let error = allowed(x, y, expected)?;
                (off.is_nan() || off > error).then(|| format!("{expected:e} ± {error:e} of {x:e} and {y:e}"))
            });
        }
        flush_forms(device, &mut failures);
    }
}

/// Subnormal operands and results of the approximate forms that flush.
fn flush_forms(device: &cuda_tiles_host::Device, failures: &mut Failures) {
    let n = 16;
    let a =
        [1e-40f32, -1e-40, 1e-38, -1e-38, -127.0, 1.0, 2.0, 4.0, 0.0, -0.0, 16.0, 3.0, 1e-39, 5.0, 6.0, 7.0];
    let b = [1.0f32, 1.0, 1e10, 1e10, 1e-40, 1e-40, -1e-40, 2.0, 1.0, 1.0, 2.0, 3.0, 1e-39, 5.0, 2.0, 7.0];
    let left = Tensor::from_slice(device, [n], &a).unwrap();
    let right = Tensor::from_slice(device, [n], &b).unwrap();
    let mut results = Tensor::poisoned(device, [APPROXIMATIONS.len(), n]).unwrap();
    kernels::approximate.launch(device, Grid::cover([n], [TILE]), (&left, &right, &mut results)).unwrap();
    let rows = results.to_vec().unwrap();
    for row in [2, 3] {
        let got = &rows[row * n..][..7];
        let expected = [0.0, -0.0, 0.0, -0.0, f32::NEG_INFINITY, f32::INFINITY, f32::NEG_INFINITY];
        failures.exact(device, "a quotient that flushes", got, |i| expected[i]);
    }
    failures.exact(device, "a root that flushes", &rows[5 * n..][..2], |i| [0.0, -0.0][i]);
    failures.exact(device, "2^-127, flushing", &rows[14 * n + 4..][..1], |_| 0.0);
    failures.exact(device, "the reciprocal root of a subnormal, flushing", &rows[15 * n..][..2], |i| {
        [f32::INFINITY, f32::NEG_INFINITY][i]
    });
}

#[test]
fn operands_broadcast_at_every_rank() {
    // Sixteenths have exact quotients in f64; the column's sums are rounded.
    let sixteenths = |seed, count| -> Vec<f32> {
        random_values::<i8>(seed, count).into_iter().map(|x| f32::from(x) / 8.0 + 0.0625).collect()
    };
    let (a, b) = (sixteenths(36, 16 * 32), sixteenths(37, 32));
    let c: Vec<f32> = sixteenths(38, 16).into_iter().map(|x| x / 3.0).collect();
    let mut failures = Failures::new::<f32>("broadcasting");
    for device in devices() {
        let matrix = Tensor::from_slice(device, [16, 32], &a).unwrap();
        let row = Tensor::from_slice(device, [32], &b).unwrap();
        let column = Tensor::from_slice(device, [16], &c).unwrap();
        let mut results = Tensor::poisoned(device, [kernels::BROADCASTS, 16, 32]).unwrap();
        kernels::broadcasting.launch(device, 1, (&matrix, &row, &column, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        for (k, got) in results.chunks(16 * 32).enumerate() {
            failures.verify(device, &format!("result {k}"), got, |i, value| {
                let (a, b, c) = (a[i], b[i % 32], c[i / 32]);
                let rounded = |k, direction, operands| wrong(k, direction, false, operands, value);
                let expected = match k {
                    0 => return rounded(0, Direction::Zero, [c, b, a]),
                    1 => return rounded(4, Direction::Up, [c, a, b]),
                    2 => (if a < c { c } else { a }).min(b),
                    3 => (a / b).floor(),
                    4 => a - b * (a / b).floor(),
                    5 => {
                        if c < b {
                            a
                        } else {
                            7.0
                        }
                    }
                    6 => {
                        if c < b {
                            7.0
                        } else {
                            b
                        }
                    }
                    _ => return rounded(3, Direction::Down, [b, a, c]),
                };
                (value != expected).then(|| format!("{expected} of {a}, {b}, {c}"))
            });
        }
    }
}
