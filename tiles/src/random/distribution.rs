//! From the four words of a counter to elements: how each distribution uses its bits.

use super::normal;
use crate::element::{Cast, Element, Float, Integer, bf16, f16};
use crate::sealed::{Sealed, sealed};

sealed! {
    [] RandomBits;
    [] ClosedOpen;
    [] OpenClosed;
    [] Normal;
    [] Bernoulli;
    [T] UniformRange<T>;
}

/// A distribution, which makes elements of random bits.
///
/// Element `n` of a stream is number `n % GROUP` of the group that counter `n / GROUP` gives: it depends on nothing else.
pub trait Distribution<T: Element>: Sealed + Copy {
    /// The number of elements that the 128 bits of a counter give: 2 or 4.
    const GROUP: usize;
    /// The elements; of a group of 2 the last two are the first two.
    #[doc(hidden)]
    fn group(self, words: [u32; 4]) -> [T; 4];
}

/// Both 64-bit numbers in four words, first word low.
#[inline_on_device]
fn wide([a, b, c, d]: [u32; 4]) -> [u64; 2] {
    [u64::from(b) << 32 | u64::from(a), u64::from(d) << 32 | u64::from(c)]
}

#[inline_on_device]
fn twice<T: Copy>([a, b]: [T; 2]) -> [T; 4] {
    [a, b, a, b]
}

/// All bits random, every number as likely as any other.
#[derive(Clone, Copy, Debug)]
pub struct RandomBits;

impl Distribution<u32> for RandomBits {
    const GROUP: usize = 4;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [u32; 4] {
        words
    }
}

impl Distribution<u64> for RandomBits {
    const GROUP: usize = 2;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [u64; 4] {
        twice(wide(words))
    }
}

/// Uniform numbers from 0 to below 1.
#[derive(Clone, Copy, Debug)]
pub struct ClosedOpen;

/// Uniform numbers from above 0 to 1.
#[derive(Clone, Copy, Debug)]
pub struct OpenClosed;

/// Types that have the distributions of floats.
#[diagnostic::on_unimplemented(
    message = "there are no uniform or normal random numbers of type `{Self}`",
    label = "expected f16, bf16, f32 or f64",
    note = "integers have `bits` and `uniform_range`"
)]
pub trait RandomFloat: Float {
    /// The elements that a counter gives.
    #[doc(hidden)]
    const GROUP: usize;
    /// Multiples of 2 to the power of minus the precision, plus one of them if `above`.
    #[doc(hidden)]
    fn uniform(words: [u32; 4], above: bool) -> [Self; 4];
    /// Of the normal distribution.
    #[doc(hidden)]
    fn normal(words: [u32; 4]) -> [Self; 4];
}

macro_rules! single {
    ($($type:ident: $precision:literal;)*) => { $(
        impl RandomFloat for $type {
            const GROUP: usize = 4;
            #[inline_on_device]
            fn uniform(words: [u32; 4], above: bool) -> [Self; 4] {
                const UNIT: f32 = 1.0 / (1u32 << $precision) as f32;
                words.map(|word| Cast::<$type>::cast(((word >> (32 - $precision)) + u32::from(above)) as f32 * UNIT))
            }
            #[inline_on_device]
            fn normal([a, b, c, d]: [u32; 4]) -> [Self; 4] {
                let ([a, b], [c, d]) = (normal::pair_f32(a, b), normal::pair_f32(c, d));
                [a, b, c, d].map(Cast::<$type>::cast)
            }
        }
    )* };
}
single! {
    f32: 24;
    f16: 11;
    bf16: 8;
}

impl RandomFloat for f64 {
    const GROUP: usize = 2;
    #[inline_on_device]
    fn uniform(words: [u32; 4], above: bool) -> [Self; 4] {
        const UNIT: f64 = 1.0 / (1u64 << 53) as f64;
        twice(wide(words).map(|word| ((word >> 11) + u64::from(above)) as f64 * UNIT))
    }
    #[inline_on_device]
    fn normal(words: [u32; 4]) -> [Self; 4] {
        let [a, b] = wide(words);
        twice(normal::pair_f64(a, b))
    }
}

impl<T: RandomFloat> Distribution<T> for ClosedOpen {
    const GROUP: usize = T::GROUP;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [T; 4] {
        T::uniform(words, false)
    }
}

impl<T: RandomFloat> Distribution<T> for OpenClosed {
    const GROUP: usize = T::GROUP;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [T; 4] {
        T::uniform(words, true)
    }
}

/// The normal distribution of mean 0 and variance 1.
#[derive(Clone, Copy, Debug)]
pub struct Normal;

impl<T: RandomFloat> Distribution<T> for Normal {
    const GROUP: usize = T::GROUP;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [T; 4] {
        T::normal(words)
    }
}

/// True with this probability.
#[derive(Clone, Copy, Debug)]
pub struct Bernoulli(pub(super) f32);

impl Distribution<bool> for Bernoulli {
    const GROUP: usize = 4;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [bool; 4] {
        f32::uniform(words, false).map(|uniform| uniform < self.0)
    }
}

/// Integers of a range that is not empty.
#[derive(Clone, Copy, Debug)]
pub struct UniformRange<T> {
    pub(super) first: T,
    pub(super) last: T,
}

/// Types that have random numbers of a range.
#[diagnostic::on_unimplemented(
    message = "there are no random numbers of a range of `{Self}`",
    label = "expected i32, i64, u32 or u64",
    note = "floats have `uniform`, which scales: `random.uniform::<f32>(cx, shape, 0) * 2.0 - 1.0`"
)]
pub trait RandomInteger: Integer {
    /// Number `first + word * count / 2^64`, where `count` is how many there are from `first` to `last`.
    #[doc(hidden)]
    fn scale(word: u64, first: Self, last: Self) -> Self;
}

/// The high half of `a * b`.
#[inline_on_device]
fn high_half(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

macro_rules! ranges {
    ($($type:ident $unsigned:ident;)*) => { $(
        impl RandomInteger for $type {
            #[inline_on_device]
            fn scale(word: u64, first: Self, last: Self) -> Self {
                let greatest = last.wrapping_sub(first) as $unsigned as u64;
                // All 2^64 numbers are one more than a u64 counts: the word itself is one of them.
                let offset = match greatest.checked_add(1) {
                    Some(count) => high_half(word, count),
                    None => word,
                };
                first.wrapping_add(offset as $type)
            }
        }
    )* };
}
ranges! {
    i32 u32;
    u32 u32;
    i64 u64;
    u64 u64;
}

impl<T: RandomInteger> Distribution<T> for UniformRange<T> {
    const GROUP: usize = 2;
    #[inline_on_device]
    fn group(self, words: [u32; 4]) -> [T; 4] {
        twice(wide(words).map(|word| T::scale(word, self.first, self.last)))
    }
}
