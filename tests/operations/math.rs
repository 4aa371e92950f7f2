//! Functions of floats, against the standard library's in f64, within the errors that their documentation states.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::value::{Random, Value, for_types, pairs, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::math as kernels;
use cuda_tiles_test_kernels::{Operand, Rows};

/// Floats, and how far their functions may be off.
trait Precision: Reference + Float {
    /// Significant bits.
    const DIGITS: i32;
    /// Base-2 logarithm of the least subnormal.
    const LEAST: i32;
    /// Base-2 logarithm of the first power of two that is infinite.
    const LIMIT: i32;
    /// The documented errors of the functions in the order of the kernel's rows, in ulp. Those of 16 bits are computed in
    /// f32 and rounded once. For f64 the standard library, whose functions are themselves up to 1 ulp off, adds as much.
    const ERRORS: [f64; 12];
    /// `a * b + c`, rounded once.
    fn fused(a: Self, b: Self, c: Self) -> Self;
}

/// Functions in f32, rounded once: half a unit of the narrow type, and at most 3 units of f32.
const ROUNDED: [f64; 12] = {
    let mut errors = [0.5 + 3.0 / 8192.0; 12];
    errors[4] = 0.5;
    errors
};

impl Precision for f16 {
    const DIGITS: i32 = 11;
    const LEAST: i32 = -24;
    const LIMIT: i32 = 16;
    const ERRORS: [f64; 12] = ROUNDED;
    fn fused(a: Self, b: Self, c: Self) -> Self {
        // The product has 22 digits and the sum spans fewer than 53: exact.
        Self::narrow(a.wide() * b.wide() + c.wide())
    }
}

impl Precision for bf16 {
    const DIGITS: i32 = 8;
    const LEAST: i32 = -133;
    const LIMIT: i32 = 128;
    const ERRORS: [f64; 12] = ROUNDED;
    fn fused(a: Self, b: Self, c: Self) -> Self {
        Self::narrow(sum_rounded_to_odd(a.wide() * b.wide(), c.wide()))
    }
}

impl Precision for f32 {
    const DIGITS: i32 = 24;
    const LEAST: i32 = -149;
    const LIMIT: i32 = 128;
    const ERRORS: [f64; 12] = [2.0, 2.1, 1.0, 1.1, 0.5, 2.0, 2.0, 2.0, 3.0, 2.0, 0.0, 0.0];
    fn fused(a: Self, b: Self, c: Self) -> Self {
        Self::narrow(sum_rounded_to_odd(a.wide() * b.wide(), c.wide()))
    }
}

impl Precision for f64 {
    const DIGITS: i32 = 53;
    const LEAST: i32 = -1074;
    const LIMIT: i32 = 1024;
    const ERRORS: [f64; 12] = [2.0, 2.0, 2.0, 2.0, 0.0, 2.0, 2.0, 2.0, 3.5, 3.0, 0.0, 0.0];
    fn fused(a: Self, b: Self, c: Self) -> Self {
        a.mul_add(b, c)
    }
}

/// `a + b` with the lowest bit set where it is not exact, so that rounding it again is as rounding once (S. Boldo, G.
/// Melquiond, "When double rounding is odd", 2005).
fn sum_rounded_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let a_part = sum - b;
    let error = (a - a_part) + (b - (sum - a_part));
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let up = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if up { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// The distance of neighbours of type `T` around `x`.
fn unit<T: Precision>(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    2f64.powi((exponent + 1 - T::DIGITS).max(T::LEAST))
}

/// Whether `value` is within `error` units of `expected`. Infinity counts as the first power of two that is not
/// finite. Zeros have the sign of an exact zero.
fn close<T: Precision>(value: T, expected: f64, error: f64) -> bool {
    let value = value.wide();
    if value.is_nan() || expected.is_nan() {
        return value.is_nan() && expected.is_nan();
    }
    if value == 0.0 && expected == 0.0 {
        return value.is_sign_negative() == expected.is_sign_negative();
    }
    if T::LIMIT == 1024 && (value.is_infinite() || expected.is_infinite()) {
        return value == expected;
    }
    let limit = if T::LIMIT == 1024 { f64::MAX } else { 2f64.powi(T::LIMIT) };
    let (value, expected) = (value.clamp(-limit, limit), expected.clamp(-limit, limit));
    (value - expected).abs() <= error * unit::<T>(expected)
}

/// Operands where the functions bend: special values, all exponents, moderate sizes, large angles.
fn operands<T: Precision>(seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    let mut all = values::<T>(seed, 2000);
    all.extend((0..3000).map(|_| T::narrow(random.unit() * 100.0)));
    all.extend((0..1000).map(|_| T::narrow(random.unit() * 2f64.powi(random.below(200) as i32 - 100))));
    all
}

fn check_functions<T: Precision>(kernel: &Kernel<(Operand<T>, Rows<T, 12>)>) {
    let functions: [(&str, fn(f64) -> f64); 12] = [
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("log", f64::ln),
        ("log2", f64::log2),
        ("sqrt", f64::sqrt),
        ("rsqrt", |x| 1.0 / x.sqrt()),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("tanh", f64::tanh),
        ("floor", f64::floor),
        ("ceil", f64::ceil),
    ];
    let x = operands::<T>(21);
    let n = x.len();
    let mut failures = Failures::new::<T>("functions");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::poisoned(device, [12, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        for (k, got) in results.chunks(n).enumerate() {
            let (name, function) = functions[k];
            failures.verify(device, name, got, |i, value| {
                let expected = function(x[i].wide());
                (!close(value, expected, T::ERRORS[k]))
                    .then(|| format!("{expected:e} within {} ulp, of {:e}", T::ERRORS[k], x[i].wide()))
            });
        }
    }
}

#[test]
fn functions_keep_their_error_bounds() {
    for_types!(check_functions, kernels::functions: f16 bf16 f32 f64);
}

type Fused<T> = Kernel<(Operand<T>, Operand<T>, Operand<T>, T, Rows<T, 3>)>;

fn check_fused<T: Precision>(kernel: &Fused<T>) {
    let (a, b) = pairs::<T, T>(22, 3000);
    let n = a.len();
    let mut random = Random::new(23);
    // Summands near minus the product as well, so that the rounding of the product would show.
    let c: Vec<T> = (0..n)
        .map(|i| match random.below(3) {
            0 => T::SPECIAL[random.below(T::SPECIAL.len() as u64) as usize],
            1 => T::random(&mut random),
            _ => T::negated(T::times(a[i], b[i])),
        })
        .collect();
    let mut failures = Failures::new::<T>("fused");
    for device in devices() {
        let [left, right, summand] =
            [&a, &b, &c].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        for s in [T::ONE, T::narrow(-0.3), T::INFINITY, T::SPECIAL[8]] {
            let mut results = Tensor::poisoned(device, [3, n]).unwrap();
            kernel
                .launch(device, Grid::cover([n], [TILE]), (&left, &right, &summand, s, &mut results))
                .unwrap();
            let results = results.to_vec().unwrap();
            let rows: [(&str, &dyn Fn(usize) -> [T; 3]); 3] = [
                ("a.fma(b, c)", &|i| [a[i], b[i], c[i]]),
                ("a.fma(s, c)", &|i| [a[i], s, c[i]]),
                ("a.fma(b, s)", &|i| [a[i], b[i], s]),
            ];
            for ((name, operands), got) in rows.iter().zip(results.chunks(n)) {
                failures.verify(device, name, got, |i, value| {
                    let [a, b, c] = operands(i);
                    let expected = T::fused(a, b, c);
                    (!value.same(expected)).then(|| format!("{expected:?} of {a:?}, {b:?}, {c:?}"))
                });
            }
        }
    }
}

#[test]
fn fma_rounds_once() {
    for_types!(check_fused, kernels::fused: f16 bf16 f32 f64);
}

fn check_classes<T: Precision>(kernel: &Kernel<(Operand<T>, Rows<bool, 2>)>) {
    let x = values::<T>(24, 500);
    let n = x.len();
    let mut failures = Failures::new::<T>("classes");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::poisoned(device, [2, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        failures.exact(device, "is_infinite", &results[..n], |i| x[i].wide().is_infinite());
        failures.exact(device, "is_nan", &results[n..], |i| x[i].wide().is_nan());
    }
}

#[test]
fn classification() {
    for_types!(check_classes, kernels::classes: f16 bf16 f32 f64);
}

/// An approximate function: its name, the exact one, and the error that its documentation allows at an operand and a
/// result; `None` outside the documented domain.
type Approximation = (&'static str, fn(f64, f64) -> f64, fn(f64, f64, f64) -> Option<f64>);

/// A relative error, where result and operand are normal numbers: the rest may become zero or infinite.
fn relative(x: f64, result: f64, error: f64) -> Option<f64> {
    let normal = |x: f64| (2f64.powi(-126)..2f64.powi(127)).contains(&x.abs());
    (normal(x) && normal(result)).then(|| result.abs() * error)
}

const APPROXIMATIONS: [Approximation; 10] = [
    (
        "exp_approximate",
        |x, _| x.exp(),
        |x, _, r| relative(1.0, r, 2f64.powi(-22) + x.abs() * 2f64.powi(-23)),
    ),
    ("exp2_approximate", |x, _| x.exp2(), |_, _, r| relative(1.0, r, 2f64.powi(-22))),
    ("log_approximate", |x, _| x.ln(), |x, _, r| logarithm(x, r, 2f64.powi(-21))),
    ("log2_approximate", |x, _| x.log2(), |x, _, r| logarithm(x, r, 2f64.powi(-22))),
    ("rsqrt_approximate", |x, _| 1.0 / x.sqrt(), |x, _, r| relative(x, r, 2.0).map(|_| 2.0 * unit::<f32>(r))),
    ("reciprocal_approximate", |x, _| 1.0 / x, |x, _, r| relative(x, r, 1.0).map(|_| unit::<f32>(r))),
    ("sin_approximate", |x, _| x.sin(), |x, _, _| angle(x)),
    ("cos_approximate", |x, _| x.cos(), |x, _, _| angle(x)),
    ("tanh_approximate", |x, _| x.tanh(), |x, _, r| relative(x, r, 2f64.powi(-11))),
    (
        "divide_approximate",
        |x, y| x / y,
        |x, y, r| {
            let divisor = (2f64.powi(-126)..=2f64.powi(126)).contains(&y.abs());
            if divisor { relative(x, r, 2.0).map(|_| 2.0 * unit::<f32>(r)) } else { None }
        },
    ),
];

fn logarithm(x: f64, result: f64, error: f64) -> Option<f64> {
    let normal = (2f64.powi(-126)..2f64.powi(127)).contains(&x);
    let near_one = (0.5..2.0).contains(&x);
    normal.then(|| if near_one { 2f64.powi(-22) } else { result.abs() * error })
}

fn angle(x: f64) -> Option<f64> {
    (x.abs() <= std::f64::consts::TAU).then(|| 2f64.powi(-20))
}

fn check_approximations(device: &Device, failures: &mut Failures) {
    let x = operands::<f32>(25);
    let n = x.len();
    let mut random = Random::new(26);
    let y: Vec<f32> = (0..n).map(|_| f32::random(&mut random)).collect();
    let operand = Tensor::from_slice(device, [n], &x).unwrap();
    let divisor = Tensor::from_slice(device, [n], &y).unwrap();
    let mut results = Tensor::poisoned(device, [10, n]).unwrap();
    kernels::approximations
        .launch(device, Grid::cover([n], [TILE]), (&operand, &divisor, &mut results))
        .unwrap();
    let results = results.to_vec().unwrap();
    for ((name, function, allowed), got) in APPROXIMATIONS.iter().zip(results.chunks(n)) {
        failures.verify(device, name, got, |i, value| {
            let (x, y) = (f64::from(x[i]), f64::from(y[i]));
            let expected = function(x, y);
            if expected.is_nan() {
                // A negative subnormal may count as zero, which has a logarithm and a reciprocal root.
                let kept = |x: f64| x == 0.0 || x.is_nan() || x.abs() >= f64::from(f32::MIN_POSITIVE);
                return (!value.is_nan() && kept(x) && kept(y)).then(|| format!("NaN of {x:e} and {y:e}"));
            }
            let error = allowed(x, y, expected)?;
            ((f64::from(value) - expected).abs() > error || value.is_nan())
                .then(|| format!("{expected:e} within {error:e}, of {x:e} and {y:e}"))
        });
    }
}

#[test]
fn approximations_keep_their_error_bounds() {
    let mut failures = Failures::new::<f32>("approximations");
    for device in devices() {
        check_approximations(device, &mut failures);
    }
}
