//! Random numbers: the published algorithm, word by word, at any offset, on every device; distributions from those words.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::Value;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::random::{RandomFloat, RandomInteger};
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::random as kernels;
use cuda_tiles_test_kernels::{MULTIPLE, Output, Row};

const SEED: u64 = 0x299f_31d0_a409_3822;
const STREAM: u64 = 0x0370_7344_1319_8a2e;

/// The words of a counter, as the paper's figure 1 draws them: both halves of the products, in 128-bit arithmetic.
fn philox(group: u64, stream: u64, seed: u64) -> [u32; 4] {
    let mut state = [group, group >> 32, stream, stream >> 32].map(|word| word as u32);
    let mut key = [seed as u32, (seed >> 32) as u32];
    for _ in 0..10 {
        let (left, right) = (u128::from(state[0]) * 0xd251_1f53, u128::from(state[2]) * 0xcd9e_8d57);
        state = [
            (right >> 32) as u32 ^ state[1] ^ key[0],
            right as u32,
            (left >> 32) as u32 ^ state[3] ^ key[1],
            left as u32,
        ];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    state
}

/// 32-bit word `number` of the stream.
fn word(number: u64, stream: u64) -> u32 {
    philox(number / 4, stream, SEED)[(number % 4) as usize]
}

/// 64-bit word `number` of the stream, two to a counter.
fn wide(number: u64, stream: u64) -> u64 {
    let words = philox(number / 2, stream, SEED);
    let [low, high] = if number.is_multiple_of(2) { [words[0], words[1]] } else { [words[2], words[3]] };
    u64::from(high) << 32 | u64::from(low)
}

/// Offsets: aligned to groups and not, beyond 32 bits, and around the end of the stream.
const OFFSETS: [u64; 7] = [0, 1, 2, 3, 4096, (7 << 32) + 5, u64::MAX - 100];
const LENGTH: usize = 1000 / MULTIPLE * MULTIPLE;

#[test]
fn the_stream_is_philox() {
    // The first published vector, as the test of this reference.
    assert_eq!(philox(0, 0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    let mut failures = Failures::new::<u32>("random_bits");
    for device in devices() {
        for offset in OFFSETS {
            let mut words = Tensor::poisoned(device, [LENGTH]).unwrap();
            let mut wides = Tensor::poisoned(device, [LENGTH]).unwrap();
            let arguments = (SEED, STREAM, offset, &mut words, &mut wides);
            kernels::random_bits.launch(device, Grid::cover([LENGTH], [256]), arguments).unwrap();
            let at = |i: usize| offset.wrapping_add(i as u64);
            failures.exact(device, &format!("words from {offset}"), &words.to_vec().unwrap(), |i| {
                word(at(i), STREAM)
            });
            failures.exact(device, &format!("wide words from {offset}"), &wides.to_vec().unwrap(), |i| {
                wide(at(i), STREAM)
            });
        }
    }
}

/// A float type and the exact value of its uniform numbers.
trait Uniform: Value + RandomFloat {
    const PRECISION: i32;
    /// Relative error of a normal number.
    const BOUND: f64;
    /// Absolute error near zero, where numbers are subnormal or the reference's own angle is rounded.
    const NEAR_ZERO: f64;
    fn value(self) -> f64;
}

macro_rules! uniform {
    ($($type:ident $precision:literal $bound:expr, $near_zero:expr;)*) => { $(
        impl Uniform for $type {
            const PRECISION: i32 = $precision;
            const BOUND: f64 = $bound;
            const NEAR_ZERO: f64 = $near_zero;
            fn value(self) -> f64 {
                f64::from(self)
            }
        }
    )* };
}
uniform! {
    f16 11 0.000_6, 6e-8;
    bf16 8 0.004_5, 4e-15;
    f32 24 4e-7, 4e-15;
    f64 53 8e-16, 4e-15;
}

/// The bits of the uniform number of this place: the high ones of a word.
fn uniform_bits<T: Uniform>(number: u64) -> u64 {
    if T::PRECISION > 32 {
        wide(number, STREAM) >> (64 - T::PRECISION)
    } else {
        u64::from(word(number, STREAM)) >> (32 - T::PRECISION)
    }
}

/// The normal number of this place by the formula, in f64.
fn normal<T: Uniform>(number: u64) -> f64 {
    let (first, second) = (number & !1, number | 1);
    let [u, v] = if T::PRECISION > 32 {
        let unit = |word: u64| (word >> 11) as f64 / 2f64.powi(53);
        [unit(wide(first, STREAM)) + 2f64.powi(-53), unit(wide(second, STREAM))]
    } else {
        let unit = |word: u32| f64::from(word >> 8) / 2f64.powi(24);
        [unit(word(first, STREAM)) + 2f64.powi(-24), unit(word(second, STREAM))]
    };
    let angle = std::f64::consts::TAU * v;
    (-2.0 * u.ln()).sqrt() * if number.is_multiple_of(2) { angle.cos() } else { angle.sin() }
}

fn check_floats<T: Uniform>(
    kernel: &Kernel<(u64, u64, u64, Output<T, (D<3>, Mult<u32, MULTIPLE>)>)>,
    tile: usize,
) {
    let mut failures = Failures::new::<T>("random_floats");
    for offset in OFFSETS {
        let mut of_the_cpu: Option<Vec<T>> = None;
        for device in devices() {
            let mut results = Tensor::poisoned(device, [3, LENGTH]).unwrap();
            let grid = Grid::cover([LENGTH], [tile]);
            kernel.launch(device, grid, (SEED, STREAM, offset, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            let at = |i: usize| offset.wrapping_add(i as u64);
            let unit = 2f64.powi(-T::PRECISION);
            let differs = |expected: f64, got: T| (expected != got.value()).then(|| format!("{expected:?}"));
            failures.verify(device, "uniform", &results[..LENGTH], |i, x| {
                differs(uniform_bits::<T>(at(i)) as f64 * unit, x)
            });
            failures.verify(device, "uniform above zero", &results[LENGTH..2 * LENGTH], |i, x| {
                differs((uniform_bits::<T>(at(i)) + 1) as f64 * unit, x)
            });
            failures.verify(device, "normal", &results[2 * LENGTH..], |i, x| {
                let expected = normal::<T>(at(i));
                let error = (x.value() - expected).abs();
                (error > T::BOUND * expected.abs() + T::NEAR_ZERO).then(|| format!("{expected:?}"))
            });
            match &of_the_cpu {
                None => of_the_cpu = Some(results),
                Some(expected) => failures.exact(device, "as the CPU", &results, |i| expected[i]),
            }
        }
    }
}

#[test]
fn floats_are_uniform_or_normal() {
    check_floats::<f16>(kernels::random_floats::<f16>(), 512);
    check_floats::<bf16>(kernels::random_floats::<bf16>(), 512);
    check_floats::<f32>(kernels::random_floats::<f32>(), 512);
    check_floats::<f64>(kernels::random_floats::<f64>(), 512);
    check_floats::<f32>(kernels::random_floats_apart::<f32>(), 64);
    check_floats::<f64>(kernels::random_floats_apart::<f64>(), 64);
}

fn check_range<T>(kernel: &Kernel<(u64, u64, T, T, Row<T>)>, ranges: &[(T, T)])
where
    T: Value + RandomInteger + Into<i128> + TryFrom<i128, Error: std::fmt::Debug>,
{
    let mut failures = Failures::new::<T>("random_range");
    for device in devices() {
        for &(first, last) in ranges {
            let mut results = Tensor::poisoned(device, [LENGTH]).unwrap();
            let arguments = (SEED, 5, first, last, &mut results);
            kernel.launch(device, Grid::cover([LENGTH], [128]), arguments).unwrap();
            let count = (last.into() - first.into() + 1) as u128;
            failures.exact(device, &format!("{first:?} to {last:?}"), &results.to_vec().unwrap(), |i| {
                // 64 by 65 bits: the high bits by schoolbook multiplication in two halves.
                let word = u128::from(wide(5 + i as u64, 3));
                let scaled = ((word * (count & 0xffff_ffff)) >> 32) + word * (count >> 32);
                T::try_from(first.into() + (scaled >> 32) as i128).unwrap()
            });
        }
    }
}

#[test]
fn ranges_keep_their_ends() {
    check_range(
        kernels::random_range::<i32>(),
        &[(-3, 3), (i32::MIN, i32::MAX), (7, 7), (-1_000_000_000, 2_000_000_000)],
    );
    check_range(kernels::random_range::<u32>(), &[(0, 1), (0, u32::MAX), (u32::MAX, u32::MAX), (10, 99)]);
    check_range(
        kernels::random_range::<i64>(),
        &[(-3, 3), (i64::MIN, i64::MAX), (i64::MIN, -1), (0, 1 << 40)],
    );
    check_range(
        kernels::random_range::<u64>(),
        &[(0, 1), (0, u64::MAX), (0, u64::MAX - 1), (1 << 63, u64::MAX)],
    );
}

#[test]
fn masks_keep_as_many_as_asked() {
    let mut failures = Failures::new::<bool>("random_mask");
    for device in devices() {
        for keep in [0.0, 0.1, 0.75, 1.0] {
            let mut results = Tensor::poisoned(device, [1 << 16]).unwrap();
            kernels::random_mask.launch(device, 64, (SEED, keep, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            failures.exact(device, &format!("{keep}"), &results, |i| {
                ((word(i as u64, 0) >> 8) as f32) / 16_777_216.0 < keep
            });
            let share = results.iter().filter(|&&kept| kept).count() as f32 / results.len() as f32;
            assert!((share - keep).abs() < 0.01, "{share} instead of {keep}");
        }
    }
}
