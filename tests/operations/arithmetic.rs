//! Operators, minimum and maximum, logic and shifts.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, pairs, random_values, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::{self as kernels, TILE};
use cuda_tiles_test_kernels::{Operand, Rows};

/// A binary operation by its name.
type Named<T> = (&'static str, fn(T, T) -> T);

/// The rows of the kernel `arithmetic` with two tiles.
fn operations<T: Reference>() -> [Named<T>; 11] {
    [
        ("a + b", T::plus),
        ("a - b", T::minus),
        ("a * b", T::times),
        ("a / b", T::over),
        ("a % b", T::remainder),
        ("minimum", T::smaller),
        ("maximum", T::larger),
        ("minimum, propagating NaN", T::smaller_or_nan),
        ("maximum, propagating NaN", T::larger_or_nan),
        ("-a", |a, _| T::negated(a)),
        ("|a|", |a, _| T::magnitude(a)),
    ]
}

type Arithmetic<T> = Kernel<(Operand<T>, Operand<T>, T, Rows<T, 18>)>;

fn check_arithmetic<T: Reference>(kernel: &Arithmetic<T>) {
    let (a, b) = pairs::<T, T>(1, 700);
    let n = a.len();
    let mut failures = Failures::new::<T>("arithmetic");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        for s in [T::SPECIAL[0], T::SPECIAL[3], T::SPECIAL[5], b[n - 1]] {
            let mut results = Tensor::poisoned(device, [18, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&left, &right, s, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            let named = operations::<T>();
            let with_scalar = [0, 1, 2, 3, 4, 5, 6].map(|k| named[k]);
            for ((name, operation), got) in named.iter().zip(results.chunks(n)) {
                failures.verify(device, name, got, |i, value| {
                    let expected = operation(a[i], b[i]);
                    (!value.same(expected)).then(|| format!("{expected:?} of {:?} and {:?}", a[i], b[i]))
                });
            }
            for ((name, operation), got) in with_scalar.iter().zip(results.chunks(n).skip(11)) {
                failures.verify(device, &format!("{name} with a scalar"), got, |i, value| {
                    let expected = operation(a[i], s);
                    (!value.same(expected)).then(|| format!("{expected:?} of {:?} and {s:?}", a[i]))
                });
            }
        }
    }
}

#[test]
fn arithmetic() {
    for_types!(check_arithmetic, kernels::arithmetic: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

fn check_left_scalar<T: Reference>(kernel: &Kernel<(T, Operand<T>, Rows<T, 5>)>) {
    let a = values::<T>(2, 300);
    let n = a.len();
    let mut failures = Failures::new::<T>("left_scalar");
    for device in devices() {
        let right = Tensor::from_slice(device, [n], &a).unwrap();
        for &s in T::SPECIAL {
            let mut results = Tensor::poisoned(device, [5, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (s, &right, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            for ((name, operation), got) in operations::<T>().iter().zip(results.chunks(n)) {
                failures
                    .exact(device, &format!("{name} with a scalar on the left"), got, |i| operation(s, a[i]));
            }
        }
    }
}

#[test]
fn scalars_on_the_left() {
    check_left_scalar(&kernels::left_scalar_i8);
    check_left_scalar(&kernels::left_scalar_i16);
    check_left_scalar(&kernels::left_scalar_i32);
    check_left_scalar(&kernels::left_scalar_i64);
    check_left_scalar(&kernels::left_scalar_u8);
    check_left_scalar(&kernels::left_scalar_u16);
    check_left_scalar(&kernels::left_scalar_u32);
    check_left_scalar(&kernels::left_scalar_u64);
    check_left_scalar(&kernels::left_scalar_f16);
    check_left_scalar(&kernels::left_scalar_bf16);
    check_left_scalar(&kernels::left_scalar_f32);
    check_left_scalar(&kernels::left_scalar_f64);
}

fn check_literals<T: Reference>(kernel: &Kernel<(f32, Operand<T>, Rows<T, 10>)>) {
    let a = values::<T>(3, 300);
    let n = a.len();
    let mut failures = Failures::new::<T>("literals");
    for device in devices() {
        let tile = Tensor::from_slice(device, [n], &a).unwrap();
        // The last ones are rounded, overflow, and vanish in the types of 16 bits.
        for s in [0.5f32, -3.0, 0.0, f32::NAN, 0.1, 3e38, 1e-42] {
            let mut results = Tensor::poisoned(device, [10, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (s, &tile, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            let rounded = T::narrow(f64::from(s));
            for (k, got) in results.chunks(n).enumerate() {
                let (name, operation) = operations::<T>()[k % 5];
                failures.exact(device, &format!("{name} with {s}"), got, |i| {
                    if k < 5 { operation(a[i], rounded) } else { operation(rounded, a[i]) }
                });
            }
        }
    }
}

#[test]
fn f32_scalars_with_tiles_of_16_bit_floats() {
    check_literals(&kernels::literals_f16);
    check_literals(&kernels::literals_bf16);
}

#[test]
fn assignments_are_the_operators() {
    let (a, b) = pairs::<i32, i32>(5, 300);
    let n = a.len();
    let shifted = |value: i32, amount: i32, left: bool| match (
        u32::try_from(amount).is_ok_and(|amount| amount < 32),
        left,
    ) {
        (true, true) => value << amount,
        (true, false) => value >> amount,
        (false, true) => 0,
        (false, false) => value >> 31,
    };
    let mut failures = Failures::new::<i32>("assignments");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        for s in [3, -7, 40] {
            let mut results = Tensor::poisoned(device, [20, n]).unwrap();
            kernels::assignments
                .launch(device, Grid::cover([n], [TILE]), (&left, &right, s, &mut results))
                .unwrap();
            for (row, got) in results.to_vec().unwrap().chunks(n).enumerate() {
                failures.exact(device, &format!("row {row}"), got, |i| {
                    let (a, b) = (a[i], if row < 10 { b[i] } else { s });
                    match row % 10 {
                        0..5 => operations::<i32>()[row % 10].1(a, b),
                        5 => a & b,
                        6 => a | b,
                        7 => a ^ b,
                        8 => shifted(a, b, true),
                        _ => shifted(a, b, false),
                    }
                });
            }
        }
    }
}

type Logic<T> = Kernel<(Operand<T>, Operand<T>, T, Rows<T, 7>)>;

fn check_logic<T>(kernel: &Logic<T>)
where
    T: Value + Logical + std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T>,
    T: std::ops::BitXor<Output = T> + std::ops::Not<Output = T>,
{
    let (a, b) = pairs::<T, T>(4, 500);
    let n = a.len();
    let operations: [Named<T>; 4] =
        [("a & b", |a, b| a & b), ("a | b", |a, b| a | b), ("a ^ b", |a, b| a ^ b), ("!a", |a, _| !a)];
    let mut failures = Failures::new::<T>("logic");
    for device in devices() {
        let left = Tensor::from_slice(device, [n], &a).unwrap();
        let right = Tensor::from_slice(device, [n], &b).unwrap();
        for &s in T::SPECIAL {
            let mut results = Tensor::poisoned(device, [7, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&left, &right, s, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            for (k, got) in results.chunks(n).enumerate() {
                let (name, operation) = operations[k % 4];
                failures.exact(device, name, got, |i| operation(a[i], if k < 4 { b[i] } else { s }));
            }
        }
    }
}

#[test]
fn logic() {
    for_types!(check_logic, kernels::logic: bool i8 i16 i32 i64 u8 u16 u32 u64);
}

type Shifts<T, U> = Kernel<(Operand<T>, Operand<U>, u32, Rows<T, 4>)>;

/// `value * 2^amount`, or divided and rounded down, as far as the type holds it; `wrap` cuts to the type.
fn shifted(value: i128, amount: i128, left: bool, width: u32) -> i128 {
    let amount = if (0..i128::from(width)).contains(&amount) { amount as u32 } else { width };
    match (left, amount < width) {
        (true, true) => value << amount,
        (true, false) => 0,
        (false, true) => value >> amount,
        (false, false) => {
            if value < 0 {
                -1
            } else {
                0
            }
        }
    }
}

/// Integers that go to and from 128 bits.
trait Wide: Value + Integer {
    fn widen(self) -> i128;
    fn wrap(value: i128) -> Self;
}

macro_rules! wide {
    ($($type:ident)*) => { $(
        impl Wide for $type {
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

fn check_shifts<T: Wide, U: Wide>(kernel: &Shifts<T, U>) {
    let (mut a, mut amounts) = pairs::<T, U>(5, 0);
    a.extend(random_values::<T>(6, 672));
    // Amounts around the width as well, so that most shifts leave something.
    amounts.extend((0..608).map(|k| U::wrap(k % (i128::from(T::WIDTH) + 3))));
    // And amounts of 64 bits whose low word is one that shifts little.
    amounts.extend((0..64).map(|k| U::wrap(k | 1 << 40)));
    let n = a.len();
    let mut failures = Failures::new::<(T, U)>("shifts");
    for device in devices() {
        let values = Tensor::from_slice(device, [n], &a).unwrap();
        let shifts = Tensor::from_slice(device, [n], &amounts).unwrap();
        for s in [0, 1, T::WIDTH - 1, T::WIDTH, 64, u32::MAX] {
            let mut results = Tensor::poisoned(device, [4, n]).unwrap();
            kernel.launch(device, Grid::cover([n], [TILE]), (&values, &shifts, s, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            for (k, got) in results.chunks(n).enumerate() {
                let name = ["a << b", "a >> b", "a << s", "a >> s"][k];
                failures.verify(device, name, got, |i, value| {
                    let amount = if k < 2 { amounts[i].widen() } else { i128::from(s) };
                    let expected = T::wrap(shifted(a[i].widen(), amount, k % 2 == 0, T::WIDTH));
                    (!value.same(expected)).then(|| format!("{expected:?} of {:?} by {amount}", a[i]))
                });
            }
        }
    }
}

#[test]
fn detail_27_shifts_by_any_amount() {
    macro_rules! check {
        ($($type:ident by $amount:ident),*) => { $( check_shifts(kernels::shifts::<$type, $amount>()); )* };
    }
    check!(i8 by i8, i16 by u16, i32 by i32, i64 by u64, u8 by u8, u16 by i16, u32 by u32, u64 by i64);
    check!(i8 by i64, u8 by u32, i64 by i8, u64 by u8, i32 by u64, u32 by i16);
}
