//! Conversions between all pairs of element types.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::{Reference, round_integer, round_to_bf16, round_to_f16};
use crate::test_values::{Random, Value, for_types, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::arithmetic::TILE;
use cuda_tiles_test_kernels::casts as kernels;
use cuda_tiles_test_kernels::{Operand, Row, Rows};

/// An element's value, exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exact {
    Integer(i128),
    Real(f64),
}

/// Element types as the source and as the target of a conversion.
pub(crate) trait Convert: Value {
    /// The value, exactly.
    fn exact(self) -> Exact;
    /// The converted value.
    fn convert(value: Exact) -> Self;
}

impl Convert for bool {
    fn exact(self) -> Exact {
        Exact::Integer(self.into())
    }
    fn convert(value: Exact) -> Self {
        match value {
            Exact::Integer(value) => value != 0,
            Exact::Real(value) => value.is_nan() || value != 0.0,
        }
    }
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Convert for $type {
            fn exact(self) -> Exact {
                Exact::Integer(self as i128)
            }
            fn convert(value: Exact) -> Self {
                match value {
                    Exact::Integer(value) => value as $type,
                    Exact::Real(value) if value.is_nan() => 0,
                    Exact::Real(value) if value <= $type::MIN as f64 => $type::MIN,
                    // The bound is exact, or rounded up to a power of two.
                    Exact::Real(value) if value >= $type::MAX as f64 => $type::MAX,
                    Exact::Real(value) => value.trunc() as i128 as $type,
                }
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($type:ident $digits:literal, |$value:ident| $round:expr;)*) => { $(
        impl Convert for $type {
            fn exact(self) -> Exact {
                Exact::Real(self.wide())
            }
            fn convert(value: Exact) -> Self {
                let $value = match value {
                    Exact::Integer(value) => round_integer(value, $digits),
                    Exact::Real(value) => value,
                };
                $round
            }
        }
    )* };
}
floats! {
    f16 11, |value| round_to_f16(value);
    bf16 8, |value| round_to_bf16(value);
    f32 24, |value| value as f32;
    f64 53, |value| value;
}

type Casts<T> = Kernel<(Operand<T>, Rows<u8, 3>, Rows<u16, 4>, Rows<u32, 3>, Rows<u64, 3>)>;

/// Values between representable ones of narrower types, ties among them: a few digits, then zeros, or one more.
fn ties<T: Convert>(random: &mut Random) -> T {
    let value = (random.bits() | 1 << 63) >> random.below(56);
    let low = 1u64 << random.below(64 - u64::from(value.leading_zeros()));
    let tie = (value & !(low - 1)) | (low >> 1);
    let nudge = random.below(3) as i128 - 1;
    let signed = (i128::from(tie) + nudge) * if random.below(2) == 0 { 1 } else { -1 };
    match random.below(2) {
        0 => T::convert(Exact::Integer(signed)),
        _ => T::convert(Exact::Real(signed as f64 * 2f64.powi(-(random.below(180) as i32)))),
    }
}

fn check_casts<T: Convert>(kernel: &Casts<T>) {
    let mut random = Random::new(31);
    let mut x = values::<T>(32, 1000);
    x.extend((0..4000).map(|_| ties::<T>(&mut random)));
    let n = x.len();
    let mut failures = Failures::new::<T>("casts");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut bytes = Tensor::poisoned(device, [3, n]).unwrap();
        let mut halves = Tensor::poisoned(device, [4, n]).unwrap();
        let mut words = Tensor::poisoned(device, [3, n]).unwrap();
        let mut doubles = Tensor::poisoned(device, [3, n]).unwrap();
        let arguments = (&operand, &mut bytes, &mut halves, &mut words, &mut doubles);
        kernel.launch(device, Grid::cover([n], [TILE]), arguments).unwrap();
        macro_rules! rows {
            ($results:ident: $($type:ident)*) => {
                let results = $results.to_vec().unwrap();
                let mut rows = results.chunks(n);
                $(
                    let got: Vec<$type> = rows.next().unwrap().iter().map(|&bits| $type::of_bits(bits)).collect();
                    failures.verify(device, concat!("to ", stringify!($type)), &got, |i, value| {
                        let expected = $type::convert(x[i].exact());
                        (!value.same(expected)).then(|| format!("{expected:?} of {:?}", x[i]))
                    });
                )*
            };
        }
        rows!(bytes: bool i8 u8);
        rows!(halves: i16 u16 f16 bf16);
        rows!(words: i32 u32 f32);
        rows!(doubles: i64 u64 f64);
    }
}

/// Elements made of bits, without the library's help.
trait OfBits {
    /// The bits.
    type Raw;
    /// The element with these bits.
    fn of_bits(bits: Self::Raw) -> Self;
}

macro_rules! of_bits {
    ($($type:ident $bits:ident, |$value:ident| $result:expr;)*) => { $(
        impl OfBits for $type {
            type Raw = $bits;
            fn of_bits($value: $bits) -> Self {
                $result
            }
        }
    )* };
}
of_bits! {
    bool u8, |bits| match bits {
        0 => false,
        1 => true,
        _ => panic!("a stored bool has the bits {bits}"),
    };
    i8 u8, |bits| bits as i8;
    u8 u8, |bits| bits;
    i16 u16, |bits| bits as i16;
    u16 u16, |bits| bits;
    i32 u32, |bits| bits as i32;
    u32 u32, |bits| bits;
    i64 u64, |bits| bits as i64;
    u64 u64, |bits| bits;
    f16 u16, |bits| f16::from_bits(bits);
    bf16 u16, |bits| bf16::from_bits(bits);
    f32 u32, |bits| f32::from_bits(bits);
    f64 u64, |bits| f64::from_bits(bits);
}

#[test]
fn every_pair_of_types() {
    for_types!(check_casts, kernels::casts: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type UnsignedToFloats<T> = Kernel<(Operand<T>, Rows<f32, 3>, Rows<f64, 3>)>;

fn check_unsigned_to_floats<T: Convert>(kernel: &UnsignedToFloats<T>) {
    let x = values::<T>(34, 1000);
    let n = x.len();
    let mut failures = Failures::new::<T>("unsigned numbers to floats");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut singles = Tensor::poisoned(device, [3, n]).unwrap();
        let mut doubles = Tensor::poisoned(device, [3, n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut singles, &mut doubles)).unwrap();
        let (singles, doubles) = (singles.to_vec().unwrap(), doubles.to_vec().unwrap());
        macro_rules! through {
            ($($number:literal $type:ident)*) => { $(
                let between = |i: usize| $type::convert(x[i].exact()).exact();
                let of_row = $number * n..($number + 1) * n;
                failures.exact(device, concat!(stringify!($type), " to f32"), &singles[of_row.clone()], |i| {
                    f32::convert(between(i))
                });
                failures.exact(device, concat!(stringify!($type), " to f64"), &doubles[of_row], |i| {
                    f64::convert(between(i))
                });
            )* };
        }
        through!(0 u16 1 u32 2 u64);
    }
}

/// Seed 2250 of the random kernels.
#[test]
fn signed_numbers_by_way_of_unsigned_ones_to_floats() {
    for_types!(check_unsigned_to_floats, kernels::unsigned_to_floats: i8 i16);
}

/// Seed 213 of the random kernels.
#[test]
fn bytes_of_a_progression() {
    let mut failures = Failures::new::<i8>("arange");
    for device in devices() {
        let mut results = Tensor::<f16, 1>::poisoned(device, [TILE]).unwrap();
        kernels::progression.launch(device, Grid::cover([TILE], [TILE]), (&mut results,)).unwrap();
        failures.exact(device, "as f16", &results.to_vec().unwrap(), |i| {
            f16::from_f32(f32::from((8 + 3 * i as i32) as i8))
        });
    }
}

fn check_bitcast<T: Value, U: Value>(kernel: &Kernel<(Operand<T>, Row<U>)>, expected: impl Fn(T) -> U) {
    let x = values::<T>(33, 1000);
    let n = x.len();
    let mut failures = Failures::new::<(T, U)>("bitcast");
    for device in devices() {
        let operand = Tensor::from_slice(device, [n], &x).unwrap();
        let mut results = Tensor::poisoned(device, [n]).unwrap();
        kernel.launch(device, Grid::cover([n], [TILE]), (&operand, &mut results)).unwrap();
        failures.exact(device, "bitcast", &results.to_vec().unwrap(), |i| expected(x[i]));
    }
}

#[test]
fn bits_read_as_another_type() {
    macro_rules! check {
        ($($from:ident to $to:ident: $expected:expr;)*) => { $( check_bitcast(kernels::bitcast::<$from, $to>(), $expected); )* };
    }
    check! {
        u8 to bool: |x| x != 0;
        u8 to i8: |x| x as i8;
        bool to i8: |x| x as i8;
        i8 to bool: |x| x != 0;
        u16 to i16: |x| x as i16;
        u16 to f16: f16::from_bits;
        u16 to bf16: bf16::from_bits;
        i16 to f16: |x| f16::from_bits(x as u16);
        f16 to bf16: |x| bf16::from_bits(x.to_bits());
        bf16 to i16: |x| x.to_bits() as i16;
        u32 to i32: |x| x as i32;
        u32 to f32: f32::from_bits;
        i32 to f32: |x| f32::from_bits(x as u32);
        f32 to i32: |x| x.to_bits() as i32;
        u64 to i64: |x| x as i64;
        u64 to f64: f64::from_bits;
        i64 to f64: |x| f64::from_bits(x as u64);
        f64 to i64: |x| x.to_bits() as i64;
    }
}
