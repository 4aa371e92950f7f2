//! TF32, FP8 and FP4, against their definitions in exact arithmetic.

#[path = "../../tiles/tests/common/formats.rs"]
mod formats;

use crate::casts::{Convert, Exact};
use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Random, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::minifloats as kernels;
use cuda_tiles_test_kernels::{Operand, Row, Rows};
use formats::{Definition, E2M1, E4M3, E5M2, UE5M3};
use std::fmt::Debug;

/// An element as an exact number: an integer of up to 64 bits is one as `f64` only where the test says so.
trait Number64: Element {
    /// The value.
    fn exact(self) -> Exact;
    /// The elements to test with.
    fn trials() -> Vec<Self>;
}

/// Numbers that try every decision of all formats.
fn all_trials() -> Vec<f64> {
    let formats = [E4M3, E5M2, UE5M3, E2M1].into_iter().flat_map(Definition::trials).map(f64::from);
    // The middles between numbers of TF32, and what lies closer to them than f32 can tell.
    let mut random = Random::new(71);
    let middles = (0..200).flat_map(|_| {
        let mantissa = 1.0 + (random.below(1024) as f64 + 0.5) / 1024.0;
        let x = mantissa * 2f64.powi(random.below(250) as i32 - 124);
        [x, x.next_up(), x.next_down(), -x, -x.next_up()]
    });
    formats.chain(middles).collect()
}

macro_rules! numbers {
    ($($type:ident)*) => { $(
        impl Number64 for $type {
            fn exact(self) -> Exact {
                Convert::exact(self)
            }
            fn trials() -> Vec<Self> {
                let all = all_trials().into_iter().map(|x| <$type as Convert>::convert(Exact::Real(x)));
                values::<$type>(72, 200).into_iter().chain(all).collect()
            }
        }
    )* };
}
numbers!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);

/// All codes of a format of eight bits.
macro_rules! formats {
    ($($type:ident: |$value:ident| $exact:expr;)*) => { $(
        impl Number64 for $type {
            fn exact(self) -> Exact {
                let $value = self;
                Exact::Real($exact)
            }
            fn trials() -> Vec<Self> {
                (0..=255).map($type::from_bits).collect()
            }
        }
    )* };
}
formats! {
    f8e4m3: |x| E4M3.value(x.to_bits().into());
    f8e5m2: |x| E5M2.value(x.to_bits().into());
    f8ue5m3: |x| UE5M3.value(x.to_bits().into());
    f8e8m0: |x| if x.to_bits() == 255 { f64::NAN } else { 2f64.powi(i32::from(x.to_bits()) - 127) };
}

impl Number64 for tf32 {
    fn exact(self) -> Exact {
        Exact::Real(f64::from(f32::from_bits(self.to_bits())))
    }
    fn trials() -> Vec<Self> {
        let low = [0, 0x1fff];
        let patterns = values::<u32>(73, 600).into_iter().map(tf32::from_bits);
        let special = values::<f32>(74, 300).into_iter();
        patterns
            .chain(special.flat_map(|x| low.map(|low| tf32::from_bits(x.to_bits() & !0x1fff | low))))
            .collect()
    }
}

/// How a result that does not fit is rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Even,
    Zero,
    Down,
    Up,
    Away,
    /// To even, and beyond the greatest number no number.
    Unsaturated,
}

/// `x` rounded to `digits` significant bits, none of them below 2^`least`, with numbers below 2^`limit`.
///
/// The quotient by the distance of neighbours is exact, because that is a power of two.
fn round(x: f64, digits: i32, least: i32, limit: i32, mode: Mode) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = (((x.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(-1022);
    let distance = 2f64.powi((exponent + 1 - digits).max(least));
    // In two steps, as the quotient of the least numbers by much larger ones is no f64.
    let quotient = x / distance;
    let whole = match mode {
        Mode::Even | Mode::Unsaturated => quotient.round_ties_even(),
        Mode::Zero => quotient.trunc(),
        Mode::Down if quotient == 0.0 => {
            if x < 0.0 {
                -1.0
            } else {
                0.0
            }
        }
        Mode::Up if quotient == 0.0 => {
            if x > 0.0 {
                1.0
            } else {
                -0.0
            }
        }
        Mode::Down => quotient.floor(),
        Mode::Up => quotient.ceil(),
        Mode::Away => quotient.round(),
    };
    let rounded = (whole * distance).abs();
    let greatest = (2.0 - 2f64.powi(1 - digits)) * 2f64.powi(limit - 1);
    let inward = match mode {
        Mode::Even | Mode::Unsaturated | Mode::Away => false,
        Mode::Zero => true,
        Mode::Down => x > 0.0,
        Mode::Up => x < 0.0,
    };
    let magnitude = if rounded <= greatest {
        rounded
    } else if inward {
        greatest
    } else {
        f64::INFINITY
    };
    magnitude.copysign(x)
}

/// `x` rounded to TF32.
fn round_to_tf32(x: f64, mode: Mode) -> f64 {
    round(x, 11, -136, 128, mode)
}

/// An exact number as `f64`, rounded to odd: what is cut off stays visible.
fn wide(exact: Exact) -> f64 {
    match exact {
        Exact::Real(x) => x,
        Exact::Integer(x) => {
            let cut = (128 - x.unsigned_abs().leading_zeros()).saturating_sub(53);
            let (kept, lost) = (x.unsigned_abs() >> cut, x.unsigned_abs() & ((1 << cut) - 1));
            let magnitude = (kept | u128::from(lost != 0)) as f64 * 2f64.powi(cut as i32);
            if x < 0 { -magnitude } else { magnitude }
        }
    }
}

/// What a conversion to a format of eight bits or fewer should give, unless `code` is it. The payload and sign of a NaN are
/// free; where there is none, it becomes the greatest number.
fn wrong_code(definition: Definition, exact: Exact, code: u8) -> Option<String> {
    let x = wide(exact);
    let found = definition.value(code.into());
    let expected = if x.is_nan() { 7 } else { definition.nearest(x) };
    let right = if x.is_nan() && definition.has_nan() { found.is_nan() } else { u32::from(code) == expected };
    (!right).then(|| format!("{expected:#x} (of NaN: any NaN) of {x:e}"))
}

type ToMinifloats<T> = Kernel<(Operand<T>, Rows<u8, 3>, Row<f4e2m1x2>, Row<tf32>)>;

/// `values`, and the first one again until tiles are whole.
fn whole_tiles<T: Copy>(mut values: Vec<T>) -> Vec<T> {
    values.resize(values.len().next_multiple_of(TILE), values[0]);
    values
}

fn check_to<T: Number64>(kernel: &ToMinifloats<T>) {
    let x = whole_tiles(T::trials());
    let n = x.len();
    let mut failures = Failures::new::<T>("to_minifloats");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut bytes = Tensor::poisoned(device, [3, n]).unwrap();
        let mut pairs = Tensor::poisoned(device, [n / 2]).unwrap();
        let mut words = Tensor::poisoned(device, [n]).unwrap();
        let arguments = (&operand, &mut bytes, &mut pairs, &mut words);
        kernel.launch(device, Grid::cover([n], [TILE]), arguments).unwrap();
        let bytes = bytes.to_vec().unwrap();
        for (row, (name, definition)) in
            bytes.chunks(n).zip([("e4m3", E4M3), ("e5m2", E5M2), ("ue5m3", UE5M3)])
        {
            failures.verify(device, name, row, |i, code| {
                if T::NAME == ["f8", name].concat() {
                    // To itself a type converts everything, infinities included.
                    return (!same(definition.value(code.into()), wide(x[i].exact())))
                        .then(|| format!("{:?}", x[i]));
                }
                wrong_code(definition, x[i].exact(), code)
            });
        }
        let pairs = pairs.to_vec().unwrap();
        let codes: Vec<u8> =
            pairs.iter().flat_map(|pair| [pair.to_bits() & 15, pair.to_bits() >> 4]).collect();
        failures.verify(device, "e2m1", &codes, |i, code| wrong_code(E2M1, x[i].exact(), code));
        failures.verify(device, "tf32", &words.to_vec().unwrap(), |i, value| {
            let expected = round_to_tf32(wide(x[i].exact()), Mode::Even);
            (!same(value.to_f32().into(), expected)).then(|| format!("{expected} of {:?}", x[i]))
        });
    }
}

/// Whether two numbers are the same, signs of zeros included, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn every_type_to_minifloats() {
    macro_rules! check {
        ($($type:ident)*) => { $( check_to::<$type>(kernels::to_minifloats::<$type>()); )* };
    }
    check!(bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3);
}

type FromMinifloats<T> =
    Kernel<(Operand<T>, Row<f32>, Row<f64>, Row<f16>, Row<bf16>, Row<i32>, Rows<bool, 4>, Row<T>)>;

fn check_from<T: Number64>(kernel: &FromMinifloats<T>) {
    let x = whole_tiles(T::trials());
    let n = x.len();
    let mut failures = Failures::new::<T>("from_minifloats");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut singles = Tensor::<f32, 1>::poisoned(device, [n]).unwrap();
        let mut doubles = Tensor::<f64, 1>::poisoned(device, [n]).unwrap();
        let mut halves = Tensor::<f16, 1>::poisoned(device, [n]).unwrap();
        let mut brains = Tensor::<bf16, 1>::poisoned(device, [n]).unwrap();
        let mut integers = Tensor::<i32, 1>::poisoned(device, [n]).unwrap();
        let mut tests = Tensor::<bool, 2>::poisoned(device, [4, n]).unwrap();
        let mut chosen = Tensor::<T, 1>::poisoned(device, [n]).unwrap();
        let arguments = (
            &operand,
            &mut singles,
            &mut doubles,
            &mut halves,
            &mut brains,
            &mut integers,
            &mut tests,
            &mut chosen,
        );
        kernel.launch(device, Grid::cover([n], [TILE]), arguments).unwrap();
        failures.exact(device, "f32", &singles.to_vec().unwrap(), |i| Convert::convert(x[i].exact()));
        failures.exact(device, "f64", &doubles.to_vec().unwrap(), |i| Convert::convert(x[i].exact()));
        failures.exact(device, "f16", &halves.to_vec().unwrap(), |i| Convert::convert(x[i].exact()));
        failures.exact(device, "bf16", &brains.to_vec().unwrap(), |i| Convert::convert(x[i].exact()));
        failures.exact(device, "i32", &integers.to_vec().unwrap(), |i| Convert::convert(x[i].exact()));
        let tests = tests.to_vec().unwrap();
        let is: [(&str, fn(f64) -> bool); 4] = [
            ("as bool", |x| x != 0.0),
            ("is_nan", f64::is_nan),
            ("is_infinite", f64::is_infinite),
            ("eq to itself", |x| !x.is_nan()),
        ];
        for (row, (name, is)) in tests.chunks(n).zip(is) {
            failures.exact(device, name, row, |i| is(wide(x[i].exact())));
        }
        failures.verify(device, "select", &chosen.to_vec().unwrap(), |i, value| {
            let expected = if wide(x[i].exact()).is_nan() { T::ZERO } else { x[i] };
            (value != expected || value.to_bits() != expected.to_bits()).then(|| format!("{expected:?}"))
        });
    }
}

#[test]
fn minifloats_to_every_type_and_what_they_are() {
    macro_rules! check {
        ($($type:ident)*) => { $( check_from::<$type>(kernels::from_minifloats::<$type>()); )* };
    }
    check!(tf32 f8e4m3 f8e5m2 f8e8m0 f8ue5m3);
}

/// A mode of the library as one of this test.
trait Named {
    const MODE: Mode;
}
macro_rules! named {
    ($($name:ident $mode:ident;)*) => { $( impl Named for $name { const MODE: Mode = Mode::$mode; } )* };
}
named! { NearestEven Even; TowardZero Zero; TowardNegative Down; TowardPositive Up; TiesAway Away; Unsaturated Unsaturated; }

/// A float type as the target of a rounding.
trait Target: Element {
    /// The exact value of an element, and what `x` is to be.
    fn value(self) -> f64;
    fn rounded(x: f64, mode: Mode) -> f64;
}
macro_rules! targets {
    ($($type:ident: |$value:ident| $exact:expr, |$x:ident, $mode:ident| $rounded:expr;)*) => { $(
        impl Target for $type {
            fn value(self) -> f64 {
                let $value = self;
                $exact
            }
            fn rounded($x: f64, $mode: Mode) -> f64 {
                $rounded
            }
        }
    )* };
}
targets! {
    f64: |y| y, |x, _mode| x;
    f32: |y| y.into(), |x, mode| round(x, 24, -149, 128, mode);
    tf32: |y| f64::from(f32::from_bits(y.to_bits())), |x, mode| round_to_tf32(x, mode);
    f16: |y| y.to_f64(), |x, mode| round(x, 11, -24, 16, mode);
    bf16: |y| y.to_f64(), |x, mode| round(x, 8, -133, 128, mode);
    f8e4m3: |y| E4M3.value(y.to_bits().into()), |x, mode| match mode {
        // Halfway to the next number, if there were one, it would go to the even code of 448.
        Mode::Unsaturated if x.abs() > 464.0 => f64::NAN,
        _ if x.is_nan() => x,
        _ => E4M3.value(E4M3.nearest(x)),
    };
    f8e5m2: |y| E5M2.value(y.to_bits().into()), |x, mode| match mode {
        Mode::Unsaturated if x.abs() >= 61440.0 => f64::INFINITY.copysign(x),
        _ if x.is_nan() => x,
        _ => E5M2.value(E5M2.nearest(x)),
    };
    f8e8m0: |y| wide(Number64::exact(y)), |x, mode| if x.is_nan() {
        x
    } else {
        let codes = (0..255).map(|code| 2f64.powi(code - 127));
        let (least, greatest) = (2f64.powi(-127), 2f64.powi(127));
        match mode {
            Mode::Up => codes.filter(|y| *y >= x.abs()).fold(greatest, f64::min),
            _ => codes.filter(|y| *y <= x.abs()).fold(least, f64::max),
        }
    };
}

fn check_mode<T: Number64, U: Target + Promote<U, Output = U>, R: Named>(
    kernel: &Kernel<(Operand<T>, Row<U>)>,
) {
    let x = whole_tiles(T::trials());
    let n = x.len();
    let mut failures = Failures::new::<(T, U, R)>("cast_in_modes");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::<U, 1>::poisoned(device, [n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        failures.verify(device, "cast_with", &results.to_vec().unwrap(), |i, value| {
            let expected = U::rounded(wide(x[i].exact()), R::MODE);
            (!same(value.value(), expected)).then(|| format!("{expected:e} of {:?}", x[i]))
        });
    }
}

#[test]
fn detail_20_rounding_matrix() {
    macro_rules! check {
        ($($from:ident $to:ident $($mode:ident)*;)*) => { $($(
            check_mode::<$from, $to, $mode>(kernels::cast_in_modes::<$from, $to, $mode>());
        )*)* };
    }
    check! {
        f64 f32 NearestEven TowardZero TowardNegative TowardPositive;
        f64 tf32 NearestEven TowardZero;
        f64 f16 TowardZero;
        f64 bf16 TowardZero;
        f32 tf32 NearestEven TowardZero TiesAway;
        f32 f16 NearestEven TowardZero;
        f32 bf16 NearestEven TowardZero;
        f32 f64 TiesAway;
        tf32 f16 TowardZero;
        tf32 bf16 TowardZero;
        f16 bf16 TowardZero;
        f16 f32 TowardPositive;
        bf16 f16 NearestEven TowardZero TowardNegative TowardPositive TiesAway;
        bf16 tf32 TowardNegative;
        f32 f8e8m0 TowardZero TowardPositive;
        f64 f8e8m0 TowardZero TowardPositive;
        f16 f8e8m0 TowardPositive;
        bf16 f8e8m0 TowardZero;
        f32 f8e4m3 NearestEven Unsaturated;
        f16 f8e5m2 NearestEven Unsaturated;
    }
}

fn check_padding<T: Element>(
    kernel: &Kernel<(Span<T, (u32,)>, SpanMut<T, (u32,)>)>,
    from: impl Fn(u8) -> T,
    padding: T,
) {
    for n in [1usize, 3, 64, 65, 200] {
        let x: Vec<T> = (0..n).map(|i| from((i * 7 % 120) as u8)).collect();
        let padded = n.next_multiple_of(64);
        for device in devices() {
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut results = Tensor::<T, 1>::poisoned(device, [padded]).unwrap();
            kernel.launch(device, Grid::cover([padded], [64]), (&operand, &mut results)).unwrap();
            for (i, value) in results.to_vec().unwrap().into_iter().enumerate() {
                let expected = if i < n { x[i] } else { padding };
                assert!(
                    value.to_bits() == expected.to_bits(),
                    "{} {n} [{i}]: {value:?}, expected {expected:?}",
                    T::NAME
                );
            }
        }
    }
}

#[test]
fn detail_16_legal_paddings() {
    macro_rules! check {
        ($($type:ident: $($padding:ident $bits:literal)*;)*) => { $($(
            check_padding::<$type>(kernels::padded::<$type, $padding>(), |x| $type::from_bits(x.into()), $type::from_bits($bits));
        )*)* };
    }
    check! {
        tf32: Zero 0 NegativeZero 0x8000_0000 PositiveInfinity 0x7f80_0000 NegativeInfinity 0xff80_0000 Nan 0x7fff_e000;
        f8e4m3: Zero 0 NegativeZero 0x80 Nan 0x7f;
        f8e5m2: Zero 0 NegativeZero 0x80 PositiveInfinity 0x7c NegativeInfinity 0xfc Nan 0x7f;
        f8e8m0: Nan 0xff;
        f8ue5m3: Zero 0 Nan 0xff;
        f4e2m1x2: Zero 0;
    }
}

#[test]
fn detail_12_fp4_pairs_low_half_first() {
    let rows = 12;
    let x: Vec<u8> = (0..rows * 64).map(|k| (k * 41 + k / 64) as u8).collect();
    let scales: Vec<f8e8m0> = (0..rows).map(|k| f8e8m0::from_bits(120 + k as u8)).collect();
    let pairs: Vec<f4e2m1x2> = x.iter().map(|&bits| f4e2m1x2::from_bits(bits)).collect();
    for device in devices() {
        let operand = Tensor::from_slice(device, [rows, 64], &pairs).unwrap();
        let scaling = Tensor::from_slice(device, [rows, 1], &scales).unwrap();
        let mut y = Tensor::<f32, 2>::poisoned(device, [rows, 128]).unwrap();
        let mut z = Tensor::<f4e2m1x2, 2>::poisoned(device, [rows, 64]).unwrap();
        kernels::fp4_rows
            .launch(device, Grid::cover([rows], [4]), (&operand, &scaling, &mut y, &mut z))
            .unwrap();
        let (y, z) = (y.to_vec().unwrap(), z.to_vec().unwrap());
        for i in 0..rows * 128 {
            let nibble = if i % 2 == 0 { x[i / 2] & 15 } else { x[i / 2] >> 4 };
            let value = E2M1.value(nibble.into());
            let scale = 2f64.powi(120 + (i / 128) as i32 - 127);
            assert!(same(f64::from(y[i]), value * scale), "[{i}]: {} of {value}", y[i]);
            let half = if i % 2 == 0 { z[i / 2].to_bits() & 15 } else { z[i / 2].to_bits() >> 4 };
            assert_eq!(u32::from(half), E2M1.nearest(value / 2.0), "[{i}]: half of {value}");
        }
    }
}
