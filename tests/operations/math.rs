//! Functions of floats, against the standard library's in f64, within the errors that their documentation states.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Random, Value, for_types, pairs, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::math::double;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::math::{self as kernels, TILE};
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
    // Not `powi`, which takes the reciprocal of 2^1074.
    f64::from((exponent + 1 - T::DIGITS).max(T::LEAST)).exp2()
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

/// A function of one number: its name, the exact one, and its documented error for f32 and f64 in ulp.
type Row = (&'static str, fn(f64) -> f64, f64);

/// How far a function with the given error may be off: for 16 bits it is computed in f32 and rounded once, and for f64 the
/// reference adds its own error.
fn tolerance<T: Precision>(error: f64) -> f64 {
    match T::DIGITS {
        24 => error,
        53 => error + 1.0,
        _ => 0.5 + (error + 1.0) / 8192.0,
    }
}

/// Runs a kernel of functions of one number, and compares with the references; the GPU's results must have the CPU's bits.
fn check_rows<T: Precision, const K: usize>(kernel: &Kernel<(Operand<T>, Rows<T, K>)>, rows: [Row; K]) {
    let x = operands::<T>(31);
    let n = x.len();
    let mut failures = Failures::new::<T>("functions");
    let mut first = None;
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::poisoned(device, [K, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        let results: Vec<T> = results.to_vec().unwrap();
        for ((name, function, error), got) in rows.into_iter().zip(results.chunks(n)) {
            let error = tolerance::<T>(error);
            failures.verify(device, name, got, |i, value| {
                let expected = function(x[i].wide());
                (!close(value, expected, error))
                    .then(|| format!("{expected:e} within {error} ulp, of {:e}", x[i].wide()))
            });
        }
        let first = first.get_or_insert_with(|| results.clone());
        failures.exact(device, "the same bits on every device", &results, |i| first[i]);
    }
}

fn check_inverses<T: Precision>(kernel: &Kernel<(Operand<T>, Rows<T, 6>)>) {
    // The standard library loses digits of the hyperbolic ones near their zeros.
    check_rows(
        kernel,
        [
            ("asin", f64::asin, 2.2),
            ("acos", f64::acos, 1.2),
            ("atan", f64::atan, 1.5),
            ("asinh", double::asinh, 2.0),
            ("acosh", double::acosh, 2.1),
            ("atanh", double::atanh, 2.2),
        ],
    );
}

fn check_exponentials<T: Precision>(kernel: &Kernel<(Operand<T>, Rows<T, 7>)>) {
    check_rows(
        kernel,
        [
            ("exp10", |x| 10f64.powf(x), 1.0),
            ("expm1", f64::exp_m1, 1.2),
            ("log10", f64::log10, 0.6),
            ("log1p", f64::ln_1p, 1.4),
            ("sinh", f64::sinh, 1.8),
            ("cosh", f64::cosh, 1.2),
            ("cbrt", f64::cbrt, 0.6),
        ],
    );
}

fn check_activations<T: Precision>(kernel: &Kernel<(Operand<T>, Rows<T, 8>)>) {
    check_rows(
        kernel,
        [
            ("reciprocal", |x| 1.0 / x, 0.5),
            ("erf", double::erf, 1.1),
            ("erfc", double::erfc, 4.0),
            ("sigmoid", double::sigmoid, 2.5),
            ("silu", double::silu, 3.2),
            ("softplus", double::softplus, 1.8),
            ("gelu", double::gelu, 5.0),
            ("gelu_tanh", double::gelu_tanh, 3.5),
        ],
    );
}

#[test]
fn inverse_functions_keep_their_error_bounds() {
    for_types!(check_inverses, kernels::inverses: f16 bf16 f32 f64);
}

#[test]
fn exponentials_and_logarithms_keep_their_error_bounds() {
    for_types!(check_exponentials, kernels::exponentials: f16 bf16 f32 f64);
}

#[test]
fn activation_functions_keep_their_error_bounds() {
    for_types!(check_activations, kernels::activations: f16 bf16 f32 f64);
}

type Powers<T> = Kernel<(Operand<T>, Operand<T>, Operand<i32>, T, i32, Rows<T, 7>)>;

fn check_powers<T: Precision>(kernel: &Powers<T>) {
    let (x, mut y) = pairs::<T, T>(32, 4000);
    let length = x.len();
    let mut random = Random::new(33);
    // Exponents of which the powers stay in range.
    for (x, y) in x.iter().zip(&mut y).skip(T::SPECIAL.len() * T::SPECIAL.len()) {
        if random.below(2) == 0 {
            *y = T::narrow(random.unit() * f64::from(T::LIMIT) / x.wide().abs().log2().abs().max(0.1));
        }
    }
    let n: Vec<i32> = (0..length)
        .map(|i| match random.below(4) {
            0 => i32::SPECIAL[i % i32::SPECIAL.len()],
            1 => i32::random(&mut random),
            _ => random.below(41) as i32 - 20,
        })
        .collect();
    // The standard library's results for signaling NaN are not those for quiet ones.
    let wide = |value: T| if value.is_nan() { f64::NAN } else { value.wide() };
    let mut failures = Failures::new::<T>("powers");
    for (s, k) in [(2.5, -3), (-0.5, 2), (f64::INFINITY, 7), (3.0, i32::MIN)] {
        let mut first = None;
        for device in devices() {
            let [left, right] = [&x, &y].map(|values| Tensor::from_slice(device, [length], values).unwrap());
            let whole = Tensor::from_slice(device, [length], &n).unwrap();
            let mut results = Tensor::poisoned(device, [7, length]).unwrap();
            kernel
                .launch(
                    device,
                    Grid::cover([length], [TILE]),
                    (&left, &right, &whole, T::narrow(s), k, &mut results),
                )
                .unwrap();
            let results: Vec<T> = results.to_vec().unwrap();
            let rows: [(&str, f64, &dyn Fn(usize) -> f64); 7] = [
                ("x.atan2(y)", 1.7, &|i| wide(x[i]).atan2(wide(y[i]))),
                ("x.hypot(y)", 1.0, &|i| wide(x[i]).hypot(wide(y[i]))),
                ("x.pow(y)", 1.0, &|i| wide(x[i]).powf(wide(y[i]))),
                ("x.powi(n)", 2.0, &|i| wide(x[i]).powf(n[i].into())),
                ("x.pow(s)", 1.0, &|i| wide(x[i]).powf(s)),
                ("x.powi(k)", 2.0, &|i| wide(x[i]).powf(k.into())),
                ("x.powi(bool)", 0.0, &|i| if n[i] == 0 { 1.0 } else { wide(x[i]) }),
            ];
            for ((name, error, expected), got) in rows.iter().zip(results.chunks(length)) {
                let error = tolerance::<T>(*error);
                failures.verify(device, name, got, |i, value| {
                    let expected = expected(i);
                    (!close(value, expected, error)).then(|| {
                        format!(
                            "{expected:e} within {error} ulp, of {:?}, {:?}, {}, {s}, {k}",
                            x[i], y[i], n[i]
                        )
                    })
                });
            }
            let first = first.get_or_insert_with(|| results.clone());
            failures.exact(device, "the same bits on every device", &results, |i| first[i]);
        }
    }
}

#[test]
fn powers_angles_and_lengths_keep_their_error_bounds() {
    for_types!(check_powers, kernels::powers: f16 bf16 f32 f64);
}

/// Exponents of `powi` are signed integers of up to 32 bits and `bool`, which broadcast as other operands do.
#[test]
fn detail_51_whole_exponents_broadcast() {
    use kernels::{COLUMNS, ROWS};
    let x: Vec<f32> = (0..16).map(|i| 0.5 + i as f32 * 0.25).collect();
    let n: Vec<i8> = (0..COLUMNS as i8).map(|i| i - 12).collect();
    let mut failures = Failures::new::<f32>("broadcast_powers");
    for device in devices() {
        let base = Tensor::from_slice(device, [x.len()], &x).unwrap();
        let exponent = Tensor::from_slice(device, [COLUMNS], &n).unwrap();
        let mut results = Tensor::poisoned(device, [2, 2, ROWS, COLUMNS]).unwrap();
        kernels::broadcast_powers.launch(device, 2, (&base, &exponent, &mut results)).unwrap();
        let results: Vec<f32> = results.to_vec().unwrap();
        failures.verify(device, "powi", &results, |i, value| {
            let (row, column) = (i / COLUMNS % ROWS, i % COLUMNS);
            let expected = f64::from(x[row]).powi(n[column].into());
            (!close(value, expected, 2.0))
                .then(|| format!("{expected:e}, {} to the power {}", x[row], n[column]))
        });
    }
}

/// An approximate function: its name, the exact one, and the error that its documentation allows at an operand and a
/// result; `None` outside the documented domain.
type Approximation = (&'static str, fn(f64, f64) -> f64, fn(f64, f64, f64) -> Option<f64>);

/// A relative error, where result and operand are normal numbers: the rest may become zero or infinite.
fn relative(x: f64, result: f64, error: f64) -> Option<f64> {
    let normal = |x: f64| (2f64.powi(-126)..2f64.powi(127)).contains(&x.abs());
    (normal(x) && normal(result)).then(|| result.abs() * error)
}

const APPROXIMATIONS: [Approximation; 15] = [
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
    ("sqrt_approximate", |x, _| x.sqrt(), |x, _, r| relative(x, r, 2f64.powi(-23)).map(|_| unit::<f32>(r))),
    (
        "sigmoid_approximate",
        |x, _| double::sigmoid(x),
        |x, _, r| relative(1.0, r, 2f64.powi(-21) + x.abs() * 2f64.powi(-23)),
    ),
    ("silu_approximate", |x, _| double::silu(x), |x, _, _| by_tangent(x, 8e-3)),
    (
        "softplus_approximate",
        |x, _| double::softplus(x),
        |x, _, r| (x < 1e30).then(|| 2f64.powi(-21) + r * 2f64.powi(-22)),
    ),
    ("gelu_tanh_approximate", |x, _| double::gelu_tanh(x), |x, _, _| by_tangent(x, 2e-3)),
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

/// The error of `x (1 + tanh(w)) / 2` by the hardware's hyperbolic tangent, for negative `x` at most `most`.
fn by_tangent(x: f64, most: f64) -> Option<f64> {
    (x.is_finite() && x.abs() > 1e-30).then(|| (2.5e-4 * x).max(-most).abs())
}

/// The floats with approximate functions.
trait Approximated: Precision + ApproximateFloat {
    /// The errors of the instructions that only the 16-bit floats have: relative of `exp2`, absolute of `tanh`.
    const PACKED: Option<(f64, f64)>;
    /// How far the result of a function may be off that f32 computes within `error` of `expected`.
    fn allowed(name: &str, expected: f64, error: f64) -> f64 {
        match (Self::PACKED, name) {
            (Some((exp2, _)), "exp2_approximate") => expected * exp2.exp2() + unit::<Self>(expected),
            (Some((_, tanh)), "tanh_approximate") => tanh.exp2() + unit::<Self>(expected) * 0.5,
            (Some(_), _) => error + unit::<Self>(expected + error.copysign(expected)) * 0.5,
            (None, _) => error,
        }
    }
}

impl Approximated for f32 {
    const PACKED: Option<(f64, f64)> = None;
}
impl Approximated for f16 {
    const PACKED: Option<(f64, f64)> = Some((-9.9, -10.987));
}
impl Approximated for bf16 {
    const PACKED: Option<(f64, f64)> = Some((-7.0, -8.0));
}

fn check_approximations<T: Approximated>(kernel: &Kernel<(Operand<T>, Operand<T>, Rows<T, 15>)>) {
    let x = operands::<T>(25);
    let n = x.len();
    let mut random = Random::new(26);
    let y: Vec<T> = (0..n).map(|_| T::random(&mut random)).collect();
    let mut failures = Failures::new::<T>("approximations");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let divisor = Tensor::from_slice(device, [n], &y).unwrap();
        let mut results = Tensor::poisoned(device, [15, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &divisor, &mut results)).unwrap();
        let results: Vec<T> = results.to_vec().unwrap();
        for ((name, function, allowed), got) in APPROXIMATIONS.iter().zip(results.chunks(n)) {
            failures.verify(device, name, got, |i, value| {
                let (x, y, value) = (x[i].wide(), y[i].wide(), value.wide());
                let expected = function(x, y);
                if expected.is_nan() {
                    // A negative subnormal may count as zero, which has a logarithm and a reciprocal root.
                    let kept = |x: f64| x == 0.0 || x.is_nan() || x.abs() >= f64::from(f32::MIN_POSITIVE);
                    return (!value.is_nan() && kept(x) && kept(y))
                        .then(|| format!("NaN of {x:e} and {y:e}"));
                }
                let error = T::allowed(name, expected, allowed(x, y, expected)?);
                let limit = 2f64.powi(T::LIMIT);
                let (value, nearest) = (value.clamp(-limit, limit), expected.clamp(-limit, limit));
                ((value - nearest).abs() > error || value.is_nan())
                    .then(|| format!("{expected:e} within {error:e}, of {x:e} and {y:e}"))
            });
        }
    }
}

#[test]
fn approximations_keep_their_error_bounds() {
    for_types!(check_approximations, kernels::approximations: f16 bf16 f32);
}

/// The approximate hyperbolic tangent does not flush: near zero it is its operand.
#[test]
fn detail_51_approximate_tanh_keeps_subnormal_results() {
    let x: Vec<f32> =
        (0..16).map(|i| f32::from_bits(1 << i | i) * if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let mut failures = Failures::new::<f32>("approximations");
    for device in devices() {
        let [operand, divisor] =
            [&x, &x].map(|values| Tensor::from_slice(device, [x.len()], values).unwrap());
        let mut results = Tensor::poisoned(device, [15, x.len()]).unwrap();
        let kernel = kernels::approximations::<f32>();
        kernel.launch(device, 1, (&operand, &divisor, &mut results)).unwrap();
        let results: Vec<f32> = results.to_vec().unwrap();
        failures.verify(device, "tanh_approximate", &results[8 * x.len()..9 * x.len()], |i, value| {
            let error = (f64::from(value) - f64::from(x[i])).abs();
            let allowed = f64::from(x[i]).abs() * 2f64.powi(-11) + unit::<f32>(0.0);
            (error > allowed || value == 0.0).then(|| format!("about {:e}", x[i]))
        });
    }
}
