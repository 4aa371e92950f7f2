//! Division in all its roundings, operations of integers alone, whole numbers of floats, logic of numbers.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, pairs, random_values, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::integers::{self as kernels, TILE};
use cuda_tiles_test_kernels::{Operand, Rows};

/// Integers that go to and from 128 bits.
trait Wide: Value + Integer {
    const LIMITS: (i128, i128);
    fn widen(self) -> i128;
    fn wrap(value: i128) -> Self;
    fn clamp(value: i128) -> Self {
        Self::wrap(value.clamp(Self::LIMITS.0, Self::LIMITS.1))
    }
    /// The bits, the lowest first.
    fn digits(self) -> Vec<bool> {
        (0..Self::WIDTH).map(|k| self.widen() >> k & 1 == 1).collect()
    }
    fn of_digits(bits: &[bool]) -> Self {
        Self::wrap(bits.iter().enumerate().map(|(k, &bit)| i128::from(bit) << k).sum())
    }
}

macro_rules! wide {
    ($($type:ident)*) => { $(
        impl Wide for $type {
            const LIMITS: (i128, i128) = ($type::MIN as i128, $type::MAX as i128);
            fn widen(self) -> i128 {
                self as i128
            }
            fn wrap(value: i128) -> Self {
                value as $type
            }
        }
    )* };
}
wide!(i8 i16 i32 i64 u8 u16 u32 u64);

/// All pairs of a type of 8 bits, and of others the special ones and random ones.
fn operands<T: Wide>(seed: u64) -> (Vec<T>, Vec<T>) {
    if T::WIDTH == 8 {
        return (0..1 << 16).map(|k: i128| (T::wrap(k), T::wrap(k >> 8))).unzip();
    }
    pairs::<T, T>(seed, 1500)
}

type Division<T> = Kernel<(Operand<T>, Operand<T>, Operand<T>, Rows<T, 9>)>;

const DIVISIONS: [&str; 9] = [
    "floor_div",
    "ceil_div",
    "modulo",
    "div_rem, the quotient",
    "div_rem, the remainder",
    "divmod, the quotient",
    "divmod, the remainder",
    "sign",
    "clamp",
];

/// Row `k` of the kernel `division`, of integers.
fn divided(k: usize, a: i128, b: i128, c: i128) -> i128 {
    let (floor, ceil, modulo, quotient, rest) = if b == 0 {
        (0, 0, a, 0, a)
    } else {
        let floor = a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
        (floor, floor + i128::from(floor * b != a), a - floor * b, a / b, a % b)
    };
    match k {
        0 | 5 => floor,
        1 => ceil,
        2 | 6 => modulo,
        3 => quotient,
        4 => rest,
        7 => a.signum(),
        _ => a.max(b).min(c),
    }
}

fn check_integer_division<T: Wide>(kernel: &Division<T>) {
    let (a, b) = operands::<T>(41);
    let n = a.len();
    let c = random_values::<T>(42, n);
    let mut failures = Failures::new::<T>("division");
    for device in devices() {
        let [x, y, z] = [&a, &b, &c].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        let mut results = Tensor::poisoned(device, [9, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&x, &y, &z, &mut results)).unwrap();
        for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
            failures.verify(device, DIVISIONS[k], got, |i, value| {
                let expected = T::wrap(divided(k, a[i].widen(), b[i].widen(), c[i].widen()));
                (!value.same(expected)).then(|| format!("{expected:?} of {:?}, {:?}, {:?}", a[i], b[i], c[i]))
            });
        }
    }
}

#[test]
fn detail_24_division_of_integers() {
    for_types!(check_integer_division, kernels::division: i8 i16 i32 i64 u8 u16 u32 u64);
}

#[test]
fn detail_24_division_by_constants() {
    fn check<T: Wide>(kernel: &Kernel<(Operand<T>, Rows<T, 5>)>) {
        let a = values::<T>(43, 800);
        let n = a.len();
        let mut failures = Failures::new::<T>("by_constants");
        for device in devices() {
            let x = Tensor::from_slice(device, [n], &a).unwrap();
            let mut results = Tensor::poisoned(device, [5, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&x, &mut results)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
                let (row, divisor) = [(3, 7), (4, 7), (0, 10), (1, 10), (2, 10)][k];
                failures.exact(device, &format!("{} by {divisor}", DIVISIONS[row]), got, |i| {
                    T::wrap(divided(row, a[i].widen(), divisor, 0))
                });
            }
        }
    }
    check::<i8>(&kernels::by_constants_i8);
    check::<i32>(&kernels::by_constants_i32);
    check::<u64>(&kernels::by_constants_u64);
}

/// Python's `%` of floats: the C remainder, moved to the side of the divisor.
fn python_modulo(a: f64, b: f64, narrow: impl Fn(f64) -> f64) -> f64 {
    let rest = a % b;
    if rest == 0.0 {
        0f64.copysign(b)
    } else if (rest < 0.0) != (b < 0.0) {
        narrow(rest + b)
    } else {
        rest
    }
}

fn check_float_division<T: Reference + Float>(kernel: &Division<T>, exact_below: f64) {
    let (a, b) = pairs::<T, T>(44, 1500);
    let n = a.len();
    let c = random_values::<T>(45, n);
    let mut failures = Failures::new::<T>("division");
    for device in devices() {
        let [x, y, z] = [&a, &b, &c].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        let mut results = Tensor::poisoned(device, [9, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&x, &y, &z, &mut results)).unwrap();
        for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
            failures.verify(device, DIVISIONS[k], got, |i, value| {
                let [x, y, z] = [a[i], b[i], c[i]].map(T::wide);
                let modulo = python_modulo(x, y, |x| T::narrow(x).wide());
                let rounded = T::over(a[i], b[i]).wide();
                let expected = match k {
                    0 => rounded.floor(),
                    1 => rounded.ceil(),
                    2 | 6 => modulo,
                    4 => x % y,
                    3 | 5 => {
                        let ratio = x / y;
                        let whole = if k == 3 { ratio.trunc() } else { ratio.floor() };
                        // Where the ratio rounded to a whole number, the remainder knows on which side of it it was.
                        let near = (ratio - ratio.round()).abs() <= 1e-9 * ratio.abs();
                        let rest = if k == 3 { x % y } else { modulo };
                        let near_whole = if !y.is_infinite() {
                            ((x - rest) / y).round()
                        } else if rest == x {
                            0.0
                        } else {
                            -1.0
                        };
                        let whole = if near { near_whole } else { whole };
                        let whole = if whole == 0.0 { 0f64.copysign(ratio) } else { whole };
                        if y == 0.0 {
                            ratio
                        } else if !x.is_finite() {
                            f64::NAN
                        } else if whole.abs() >= exact_below {
                            let close = (value.wide() / whole - 1.0).abs() < 4.0 / exact_below;
                            let overflows = !T::narrow(whole).wide().is_finite();
                            return (!close && !overflows).then(|| format!("{whole:e} of {x:e} and {y:e}"));
                        } else {
                            whole
                        }
                    }
                    7 => {
                        if x == 0.0 || x.is_nan() {
                            x
                        } else {
                            x.signum()
                        }
                    }
                    _ => {
                        let raised = if x < y { y } else { x };
                        if raised > z { z } else { raised }
                    }
                };
                let expected = T::narrow(expected);
                (!value.same(expected)).then(|| format!("{expected:?} of {x:e}, {y:e}, {z:e}"))
            });
        }
    }
}

#[test]
fn detail_25_remainders_of_floats_with_either_sign() {
    check_float_division::<f16>(kernels::division::<f16>(), 2048.0);
    check_float_division::<bf16>(kernels::division::<bf16>(), 256.0);
    check_float_division::<f32>(kernels::division::<f32>(), 2f64.powi(22));
    check_float_division::<f64>(kernels::division::<f64>(), 2f64.powi(49));
}

type Integers<T, U> = Kernel<(Operand<T>, Operand<T>, Operand<i16>, u32, Rows<T, 12>, Rows<U, 1>)>;

fn check_integers<T: Wide, U: Wide>(kernel: &Integers<T, U>) {
    let (a, b) = operands::<T>(46);
    let n = a.len();
    let mut amounts = values::<i16>(47, n);
    amounts.truncate(n);
    let names = [
        "mul_hi",
        "saturating_add",
        "saturating_sub",
        "saturating_mul",
        "rotate_left by tile",
        "rotate_right by tile",
        "rotate_left",
        "rotate_right",
        "count_ones",
        "leading_zeros",
        "trailing_zeros",
        "reverse_bits",
    ];
    let mut failures = Failures::new::<T>("integers");
    for device in devices() {
        let [x, y] = [&a, &b].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        let by = Tensor::from_slice(device, [n], &amounts).unwrap();
        for s in [0, 3, T::WIDTH, T::WIDTH + 1, u32::MAX] {
            let mut results = Tensor::poisoned(device, [12, n]).unwrap();
            let mut distances = Tensor::poisoned(device, [1, n]).unwrap();
            let grid = Grid::cover([n], [TILE]);
            kernel.launch(device, grid, (&x, &y, &by, s, &mut results, &mut distances)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
                failures.verify(device, names[k], got, |i, value| {
                    let (x, y) = (a[i].widen(), b[i].widen());
                    let amount = if k < 6 { i64::from(amounts[i]) } else { i64::from(s) };
                    let mut bits = a[i].digits();
                    let rotation = amount.rem_euclid(i64::from(T::WIDTH)) as usize;
                    let expected = match k {
                        // No product of two 64-bit numbers overflows as i128 but that of unsigned ones.
                        0 if T::SIGNED => T::wrap((x * y) >> T::WIDTH),
                        0 => T::wrap(((x as u128 * y as u128) >> T::WIDTH) as i128),
                        1 => T::clamp(x + y),
                        2 => T::clamp(x - y),
                        3 => T::clamp(x.saturating_mul(y)),
                        4 | 6 => {
                            bits.rotate_right(rotation);
                            T::of_digits(&bits)
                        }
                        5 | 7 => {
                            bits.rotate_left(rotation);
                            T::of_digits(&bits)
                        }
                        8 => T::wrap(bits.iter().filter(|&&bit| bit).count() as i128),
                        9 => T::wrap(bits.iter().rev().take_while(|&&bit| !bit).count() as i128),
                        10 => T::wrap(bits.iter().take_while(|&&bit| !bit).count() as i128),
                        _ => {
                            bits.reverse();
                            T::of_digits(&bits)
                        }
                    };
                    (!value.same(expected)).then(|| format!("{expected:?} of {x}, {y}, amount {amount}"))
                });
            }
            failures.exact(device, "abs_diff", &distances.to_vec().unwrap(), |i| {
                U::wrap((a[i].widen() - b[i].widen()).abs())
            });
        }
    }
}

#[test]
fn detail_26_integers() {
    macro_rules! check {
        ($($type:ident $unsigned:ident),*) => { $( check_integers(kernels::integers::<$type, $unsigned>()); )* };
    }
    check!(i8 u8, i16 u16, i32 u32, i64 u64, u8 u8, u16 u16, u32 u32, u64 u64);
}

fn check_whole_numbers<T: Reference + Float>(kernel: &Kernel<(Operand<T>, Operand<T>, T, Rows<T, 6>)>) {
    let (a, b) = pairs::<T, T>(48, 800);
    let n = a.len();
    let names = ["copysign", "copysign of a scalar", "trunc", "round_even", "floor", "ceil"];
    let mut failures = Failures::new::<T>("whole_numbers");
    let signed = |x: T, sign: T| {
        let minus =
            |x: T| x.is_minus_zero() || T::order(x, <T as Element>::ZERO) == Some(std::cmp::Ordering::Less);
        if minus(x) == minus(sign) { x } else { T::negated(x) }
    };
    for device in devices() {
        let [x, y] = [&a, &b].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        for s in [T::ONE, T::NEGATIVE_ZERO] {
            let mut results = Tensor::poisoned(device, [6, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&x, &y, s, &mut results)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
                failures.verify(device, names[k], got, |i, value| {
                    let x = a[i].wide();
                    let expected = match k {
                        // The sign of a NaN has no meaning here.
                        0 if b[i].not_a_number() => return None,
                        0 => signed(a[i], b[i]),
                        1 => signed(a[i], s),
                        2 => T::narrow(x.trunc()),
                        3 => T::narrow(x.round_ties_even()),
                        4 => T::narrow(x.floor()),
                        _ => T::narrow(x.ceil()),
                    };
                    (!value.same(expected)).then(|| format!("{expected:?} of {x:e}"))
                });
            }
        }
    }
}

#[test]
fn whole_numbers() {
    for_types!(check_whole_numbers, kernels::whole_numbers: f16 bf16 f32 f64);
}

type Logic<T> = Kernel<(Operand<T>, Operand<T>, T, T, Rows<bool, 4>, Rows<T, 3>)>;

fn check_logic<T: Value + Cast<bool>>(kernel: &Logic<T>) {
    let (a, b) = pairs::<T, T>(49, 300);
    let n = a.len();
    // Zeros of both signs are false, everything else is true, NaN too.
    let truth = |x: T| x != T::ZERO;
    let mut failures = Failures::new::<T>("logic_of_numbers");
    for device in devices() {
        let [x, y] = [&a, &b].map(|values| Tensor::from_slice(device, [n], values).unwrap());
        let (s, t) = (T::SPECIAL[1], T::SPECIAL[0]);
        let mut results = Tensor::poisoned(device, [4, n]).unwrap();
        let mut chosen = Tensor::poisoned(device, [3, n]).unwrap();
        let grid = Grid::cover([n], [TILE]);
        kernel.launch(device, grid, (&x, &y, s, t, &mut results, &mut chosen)).unwrap();
        for (k, got) in results.to_vec().unwrap().chunks(n).enumerate() {
            let name = ["logical_and", "logical_or", "logical_xor", "logical_not"][k];
            failures.exact(device, name, got, |i| match (k, truth(a[i]), truth(b[i])) {
                (0, a, b) => a && b,
                (1, a, b) => a || b,
                (2, a, b) => a ^ b,
                (_, a, _) => !a,
            });
        }
        for (k, got) in chosen.to_vec().unwrap().chunks(n).enumerate() {
            failures.exact(device, "select with scalars", got, |i| {
                let (then, otherwise) = [(a[i], s), (s, b[i]), (s, t)][k];
                if truth(a[i]) { then } else { otherwise }
            });
        }
    }
}

#[test]
fn detail_29_logic_of_numbers_and_select_of_scalars() {
    for_types!(check_logic, kernels::logic_of_numbers: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}
