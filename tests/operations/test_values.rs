//! Element values to test with: random ones and special ones, and when two are the same.

use crate::reference::{round_to_bf16, round_to_f16};
use cuda_tiles::prelude::*;
use cuda_tiles_test_kernels::MULTIPLE;

pub(crate) use crate::generator::Random;

/// An element type as the tests see it.
pub(crate) trait Value: Promote<Self, Output = Self> {
    /// Values at which implementations go wrong.
    const SPECIAL: &'static [Self];
    /// Any value: all bit patterns for integers, mostly moderate sizes for floats.
    fn random(random: &mut Random) -> Self;
    /// A small whole number, as far as the type has it.
    fn small(number: i8) -> Self;
    /// Whether two values have the same bits, or are both NaN.
    fn same(self, other: Self) -> bool;
}

impl Value for bool {
    const SPECIAL: &'static [Self] = &[false, true];
    fn random(random: &mut Random) -> Self {
        random.below(2) == 1
    }
    fn small(number: i8) -> Self {
        number != 0
    }
    fn same(self, other: Self) -> bool {
        self == other
    }
}

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Value for $type {
            const SPECIAL: &'static [Self] = &[
                0, 1, 2, 3, 7, $type::MAX, $type::MAX - 1, $type::MAX / 2, $type::MAX / 2 + 1, $type::MIN,
                $type::MIN + 1, (0 as $type).wrapping_sub(1), (0 as $type).wrapping_sub(3), $type::BITS as $type - 1,
                $type::BITS as $type, $type::BITS as $type + 1,
            ];
            fn random(random: &mut Random) -> Self {
                let bits = random.bits() as $type;
                bits >> random.below($type::BITS as u64)
            }
            fn small(number: i8) -> Self {
                number as $type
            }
            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )* };
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! floats {
    ($($type:ident: $bits:ident, $infinity:literal, $least_normal:literal, |$value:ident| $from:expr;)*) => { $(
        impl Value for $type {
            // Signs, subnormals (the least, the greatest), the least normal, one and its neighbours, the greatest.
            const SPECIAL: &'static [Self] = &[
                $type::ZERO, $type::NEGATIVE_ZERO, $type::ONE, $type::from_bits(1 << ($bits::BITS - 1) | $type::ONE.to_bits()),
                $type::INFINITY, $type::NEGATIVE_INFINITY, $type::NAN, $type::from_bits($infinity | 1),
                $type::from_bits(1), $type::from_bits(1 << ($bits::BITS - 1) | 1), $type::from_bits($least_normal - 1),
                $type::from_bits($least_normal), $type::from_bits($infinity - 1),
                $type::from_bits(1 << ($bits::BITS - 1) | ($infinity - 1)), $type::from_bits($type::ONE.to_bits() + 1),
                $type::from_bits($type::ONE.to_bits() - 1), $type::from_bits($type::ONE.to_bits() + $least_normal),
            ];
            fn random(random: &mut Random) -> Self {
                if random.below(8) == 0 {
                    return $type::from_bits(random.bits() as $bits);
                }
                let size = random.below(24) as i32 - 12;
                let $value = random.unit() * 2f64.powi(size);
                $from
            }
            fn small(number: i8) -> Self {
                let $value = f64::from(number);
                $from
            }
            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )* };
}
floats! {
    f16: u16, 0x7c00, 0x0400, |value| round_to_f16(value);
    bf16: u16, 0x7f80, 0x0080, |value| round_to_bf16(value);
    f32: u32, 0x7f80_0000, 0x0080_0000, |value| value as f32;
    f64: u64, 0x7ff0_0000_0000_0000, 0x0010_0000_0000_0000, |value| value;
}

/// Special values, then about `count` random ones, so that vectors are whole.
pub(crate) fn values<T: Value>(seed: u64, count: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    let all = T::SPECIAL.len() + count;
    let more = all.next_multiple_of(MULTIPLE) - T::SPECIAL.len();
    T::SPECIAL.iter().copied().chain((0..more).map(|_| T::random(&mut random))).collect()
}

/// Random values, `count` of them.
pub(crate) fn random_values<T: Value>(seed: u64, count: usize) -> Vec<T> {
    let mut random = Random::new(seed);
    (0..count).map(|_| T::random(&mut random)).collect()
}

/// All pairs of special values of two types, then about `count` pairs of random ones, so that vectors are whole.
pub(crate) fn pairs<T: Value, U: Value>(seed: u64, count: usize) -> (Vec<T>, Vec<U>) {
    let mut random = Random::new(seed);
    let special = T::SPECIAL.iter().flat_map(|&a| U::SPECIAL.iter().map(move |&b| (a, b)));
    let all = T::SPECIAL.len() * U::SPECIAL.len() + count;
    let others = std::iter::from_fn(|| Some((T::random(&mut random), U::random(&mut random))));
    special.chain(others).take(all.next_multiple_of(MULTIPLE)).unzip()
}

/// Calls a check with the kernel's instance for each of the types.
macro_rules! for_types {
    ($check:ident, $module:ident::$kernel:ident: $($type:ident)*) => {
        $( $check::<$type>($module::$kernel::<$type>()); )*
    };
}
pub(crate) use for_types;
