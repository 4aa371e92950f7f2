//! Products of matrices on the CPU, against sums in f64.

mod common;
#[path = "../../tests/support/random.rs"]
mod random;

use common::{elements, tile};
use cuda_tiles::cpu;
use cuda_tiles::mma::{BatchOf, Multiply, MultiplyShapes, ScaledMultiply};
use cuda_tiles::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// Element types of matrices as the tests see them.
trait Entry: Element {
    /// A number, of random bits, that is no larger than a few hundred.
    fn of_bits(bits: u64) -> Self;
    /// Its value.
    fn value(self) -> f64;
    /// The relative error of a sum of this type that is rounded once; 0 for integers.
    const ROUNDOFF: f64 = 0.0;
    /// Half the distance of the least numbers.
    const LEAST: f64 = 0.0;
}

/// A number between -8 and 8.
fn moderate(bits: u64) -> f32 {
    (bits % 4096) as f32 / 256.0 - 8.0
}

/// 2 to this power.
const fn power(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

macro_rules! entries {
    ($($type:ident: |$bits:ident| $of:expr, |$value:ident| $to:expr, $roundoff:expr, $least:expr;)*) => { $(
        impl Entry for $type {
            fn of_bits($bits: u64) -> Self {
                $of
            }
            fn value(self) -> f64 {
                let $value = self;
                $to
            }
            const ROUNDOFF: f64 = $roundoff;
            const LEAST: f64 = $least;
        }
    )* };
}
entries! {
    i8: |bits| bits as i8, |x| x.into(), 0.0, 0.0;
    u8: |bits| bits as u8, |x| x.into(), 0.0, 0.0;
    i32: |bits| bits as i32 >> 8, |x| x.into(), 0.0, 0.0;
    f8e4m3: |bits| f8e4m3::from_f32(moderate(bits)), |x| x.to_f32().into(), 0.0, 0.0;
    f8e5m2: |bits| f8e5m2::from_f32(moderate(bits)), |x| x.to_f32().into(), 0.0, 0.0;
    f4e2m1: |bits| f4e2m1::from_f32(moderate(bits)), |x| x.to_f32().into(), 0.0, 0.0;
    f16: |bits| f16::from_f32(moderate(bits)), |x| x.into(), power(-11), power(-25);
    bf16: |bits| bf16::from_f32(moderate(bits)), |x| x.into(), 0.0, 0.0;
    tf32: |bits| Cast::<tf32>::cast(moderate(bits)), |x| x.to_f32().into(), 0.0, 0.0;
    f32: |bits| moderate(bits), |x| x.into(), power(-24), 0.0;
    f64: |bits| (bits >> 11) as f64 * power(-50) - 4.0, |x| x, power(-53), 0.0;
}

/// The lengths of a product: batches of the operands and of the accumulators, rows, columns and `k`.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    batches: [usize; 3],
    rows: usize,
    columns: usize,
    depth: usize,
}

/// `a * b + c` in f64, and the sums of magnitudes.
fn expected(a: &[f64], b: &[f64], c: &[f64], l: Lengths) -> Vec<(f64, f64)> {
    let mut sums = Vec::new();
    for batch in 0..l.batches[2] {
        let (of_a, of_b) =
            (batch % l.batches[0] * l.rows * l.depth, batch % l.batches[1] * l.depth * l.columns);
        for row in 0..l.rows {
            for column in 0..l.columns {
                let start = c[(batch * l.rows + row) * l.columns + column];
                let terms =
                    (0..l.depth).map(|k| a[of_a + row * l.depth + k] * b[of_b + k * l.columns + column]);
                let (sum, size) =
                    terms.fold((start, start.abs()), |(sum, size), term| (sum + term, size + term.abs()));
                sums.push((sum, size));
            }
        }
    }
    sums
}

/// The roundoff of the type in which sums of type `C` are formed, of which each takes as many as there are terms.
fn wide_roundoff<C: Entry>() -> f64 {
    if C::ROUNDOFF == power(-11) { power(-24) } else { C::ROUNDOFF }
}

fn assert_sums<C: Entry>(found: &[C], expected: &[(f64, f64)], terms: usize, what: &str) {
    for (i, (&found, &(sum, size))) in found.iter().zip(expected).enumerate() {
        let bound = (terms + 2) as f64 * wide_roundoff::<C>() * size + C::ROUNDOFF * sum.abs() + C::LEAST;
        // Sums of integers are modulo 2^32, and small enough here.
        assert!(
            (found.value() - sum).abs() <= bound,
            "{what}: sum {i} is {found:?}, expected {sum} within {bound}"
        );
    }
}

fn values<T: Entry>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|x| x.value()).collect()
}

/// Random elements.
fn random<T: Entry>(bits: &mut impl Iterator<Item = u64>, count: usize) -> Vec<T> {
    bits.take(count).map(T::of_bits).collect()
}

/// An endless sequence of bits from a seed.
fn bits(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = random::Random::new(seed);
    std::iter::repeat_with(move || random.bits())
}

/// Multiplies random tiles of these shapes.
fn check<T, U, C, SA, SB, S>(seed: u64, shapes: (SA, SB, S), l: Lengths)
where
    T: Entry + MultiplyAccumulate<U, C>,
    U: Entry + Repack,
    C: Entry,
    SA: MultiplyShapes<SB, S>,
    SB: Shape,
    S: Shape,
{
    let mut bits = bits(seed);
    let (a, b, c) =
        (random::<T>(&mut bits, SA::LEN), random::<U>(&mut bits, SB::LEN), random::<C>(&mut bits, S::LEN));
    let sums = mma(tile(&a, shapes.0), tile(&b, shapes.1), tile(&c, shapes.2));
    let what = format!("{} x {} + {}, {l:?}", T::NAME, U::NAME, C::NAME);
    assert_sums(&elements(sums), &expected(&values(&a), &values(&b), &values(&c), l), l.depth, &what);
}

fn matrices<T, U, C, const M: usize, const K: usize, const N: usize>(seed: u64)
where
    T: Entry + MultiplyAccumulate<U, C>,
    U: Entry + Repack,
    C: Entry,
    D<M>: Dimension,
    D<K>: Dimension,
    D<N>: Dimension,
{
    let lengths = Lengths { batches: [1; 3], rows: M, columns: N, depth: K };
    check::<T, U, C, Shape2<M, K>, Shape2<K, N>, Shape2<M, N>>(seed, Default::default(), lengths);
}

fn batches<const P: usize, const Q: usize, const O: usize>(seed: u64)
where
    D<P>: BatchOf<D<O>>,
    D<Q>: BatchOf<D<O>>,
    D<O>: Dimension,
{
    let lengths = Lengths { batches: [P, Q, O], rows: 4, columns: 2, depth: 8 };
    let shapes = (Shape3::<P, 4, 8>::default(), Shape3::<Q, 8, 2>::default(), Shape3::<O, 4, 2>::default());
    check::<f16, f16, f32, _, _, _>(seed, shapes, lengths);
}

fn for_seeds(check: impl Fn(u64)) {
    let config = ProptestConfig::with_cases(8);
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(Default::default()),
    );
    runner
        .run(&any::<u64>(), |seed| {
            check(seed);
            Ok(())
        })
        .expect("all products agree");
}

macro_rules! combinations {
    ($($name:ident: $left:ident $right:ident $sum:ident;)*) => { $(
        #[test]
        fn $name() {
            for_seeds(|seed| {
                matrices::<$left, $right, $sum, 1, 1, 1>(seed);
                matrices::<$left, $right, $sum, 2, 1, 4>(seed);
                matrices::<$left, $right, $sum, 1, 64, 1>(seed);
                matrices::<$left, $right, $sum, 16, 32, 8>(seed);
                matrices::<$left, $right, $sum, 8, 4, 32>(seed);
                matrices::<$left, $right, $sum, 64, 16, 2>(seed);
            });
        }
    )* };
}
combinations! {
    products_of_i8_and_i8: i8 i8 i32;
    products_of_i8_and_u8: i8 u8 i32;
    products_of_u8_and_i8: u8 i8 i32;
    products_of_u8_and_u8: u8 u8 i32;
    products_of_e4m3_to_f16: f8e4m3 f8e4m3 f16;
    products_of_e4m3_to_f32: f8e4m3 f8e4m3 f32;
    products_of_e5m2_to_f16: f8e5m2 f8e5m2 f16;
    products_of_e5m2_to_f32: f8e5m2 f8e5m2 f32;
    products_of_f16_to_f16: f16 f16 f16;
    products_of_f16_to_f32: f16 f16 f32;
    products_of_bf16: bf16 bf16 f32;
    products_of_tf32: tf32 tf32 f32;
    products_of_f32: f32 f32 f32;
    products_of_f64: f64 f64 f64;
}

#[test]
fn a_batch_of_one_goes_with_every_batch() {
    for_seeds(|seed| {
        batches::<1, 1, 1>(seed);
        batches::<4, 4, 4>(seed);
        batches::<1, 4, 4>(seed);
        batches::<4, 1, 4>(seed);
        batches::<1, 1, 4>(seed);
    });
}

#[test]
fn integers_wrap() {
    cpu::block(|cx| {
        let (a, b) = (cx.full(shape![2, 4], -128i8), cx.full(shape![4, 2], 127i8));
        let sums = mma(a, b, cx.full(shape![2, 2], i32::MIN));
        assert_eq!(sums.at([1, 1]), i32::MIN.wrapping_add(-128 * 127 * 4));
    });
}

#[test]
fn nan_and_infinity_reach_the_sums_of_their_row_and_column() {
    cpu::block(|cx| {
        let mut a = vec![f16::ONE; 4 * 4];
        (a[1], a[5], a[6], a[8]) = (f16::NAN, f16::INFINITY, f16::NEG_INFINITY, f16::INFINITY);
        let mut b = vec![f16::ONE; 4 * 2];
        b[1] = f16::ZERO;
        let sums = mma(tile(&a, shape![4, 4]), tile(&b, shape![4, 2]), cx.zeros::<f32>(shape![4, 2]));
        assert!(sums.at([0, 0]).is_nan() && sums.at([0, 1]).is_nan());
        assert!(sums.at([1, 0]).is_nan(), "infinities of both signs");
        assert_eq!(sums.at([2, 0]), f32::INFINITY);
        assert!(sums.at([2, 1]).is_nan(), "infinity times zero");
        assert_eq!((sums.at([3, 0]), sums.at([3, 1])), (4.0, 3.0));
    });
}

#[test]
fn detail_40_fast_accumulation_of_fp8() {
    cpu::block(|cx| {
        let (a, b) =
            (cx.full(shape![2, 4], f8e4m3::constant(3.0)), cx.full(shape![4, 2], f8e4m3::constant(0.5)));
        let sums = mma_with(a, b, cx.full(shape![2, 2], 1.0f32), FastAccumulation);
        assert_eq!(elements(sums), [7.0; 4]);
    });
}

#[test]
fn transposed_tiles_are_operands() {
    cpu::block(|cx| {
        let a = cx.iota::<i32>(shape![4, 2]).cast::<f32>();
        let sums = mma(a.transpose::<0, 1>(), a, cx.zeros::<f32>(shape![2, 2]));
        assert_eq!((sums.at([0, 0]), sums.at([1, 0]), sums.at([1, 1])), (56.0, 68.0, 84.0));
    });
}

/// `matmul` gives what `mma` gives, in the type that its documentation names.
#[test]
fn detail_38_matmul_has_a_type_of_its_own() {
    fn sum<T: Multiply<U>, U: Repack>() -> &'static str {
        <T::Sum as Element>::NAME
    }
    assert_eq!([sum::<i8, i8>(), sum::<u8, i8>(), sum::<i8, u8>(), sum::<u8, u8>()], ["i32"; 4]);
    assert_eq!([sum::<f16, f16>(), sum::<f8e4m3, f8e4m3>(), sum::<f8e5m2, f8e5m2>()], ["f16"; 3]);
    assert_eq!([sum::<bf16, bf16>(), sum::<tf32, tf32>(), sum::<f32, f32>()], ["f32"; 3]);
    assert_eq!(sum::<f64, f64>(), "f64");
}

#[test]
fn matmul_takes_ranks_one_to_three() {
    cpu::block(|cx| {
        let row = cx.iota::<i32>(shape![4]).cast::<f64>();
        let matrix = cx.iota::<i32>(shape![4, 2]).cast::<f64>();
        let wide = matrix.transpose::<0, 1>();
        let batch = cx.iota::<i32>(shape![2, 4, 2]).cast::<f64>();
        let one = batch.slice::<0, 1, 1>();
        assert_eq!(elements(row.matmul(row)), [14.0]);
        assert_eq!(elements(row.matmul(matrix)), [28.0, 34.0]);
        assert_eq!(elements(wide.matmul(row)), [28.0, 34.0]);
        assert_eq!(elements(wide.matmul(matrix)), [56.0, 68.0, 68.0, 84.0]);
        assert_eq!(elements(row.matmul(batch)), [28.0, 34.0, 76.0, 82.0]);
        assert_eq!(elements(batch.transpose::<1, 2>().matmul(row)), [28.0, 34.0, 76.0, 82.0]);
        let both = [56.0, 68.0, 68.0, 84.0, 152.0, 164.0, 196.0, 212.0];
        assert_eq!(elements(wide.matmul(batch)), both);
        assert_eq!(elements(batch.transpose::<1, 2>().matmul(matrix))[4..], [152.0, 196.0, 164.0, 212.0]);
        assert_eq!(elements(one.transpose::<1, 2>().matmul(batch))[..4], [152.0, 196.0, 164.0, 212.0]);
    });
}

fn scale_of<X: Cast<f32>>(scale: X) -> f64 {
    Cast::<f32>::cast(scale).into()
}

/// Random numbers with random scales, in blocks of `K / J`.
fn scaled<T, X, const K: usize, const J: usize>(seed: u64, scale: impl Fn(u64) -> X)
where
    T: Entry + ScaledMultiply<X>,
    X: Cast<f32>,
    D<K>: Dimension,
    D<J>: Dimension,
{
    let mut bits = bits(seed);
    let (a, b, c) =
        (random::<T>(&mut bits, 4 * K), random::<T>(&mut bits, K * 8), random::<f32>(&mut bits, 32));
    let mut scales = |count| (&mut bits).take(count).map(&scale).collect::<Vec<X>>();
    let (a_scale, b_scale) = (scales(4 * J), scales(J * 8));
    let sums = scaled_mma(
        tile(&a, Shape2::<4, K>::default()),
        tile(&a_scale, Shape2::<4, J>::default()),
        tile(&b, Shape2::<K, 8>::default()),
        tile(&b_scale, Shape2::<J, 8>::default()),
        tile(&c, shape![4, 8]),
    );
    let block = K / J;
    let a =
        (0..4 * K).map(|i| a[i].value() * scale_of(a_scale[i / K * J + i % K / block])).collect::<Vec<_>>();
    let b =
        (0..K * 8).map(|i| b[i].value() * scale_of(b_scale[i / 8 / block * 8 + i % 8])).collect::<Vec<_>>();
    let lengths = Lengths { batches: [1; 3], rows: 4, columns: 8, depth: K };
    let what = format!("{} with scales of {}, blocks of {block}", T::NAME, X::NAME);
    assert_sums(&elements(sums), &expected(&a, &b, &values(&c), lengths), K, &what);
}

#[test]
fn scaled_products() {
    let powers = |bits: u64| f8e8m0::from_bits(120 + (bits % 16) as u8);
    let fractions = |bits: u64| f8e4m3::from_bits((bits % 0x60) as u8);
    let unsigned = |bits: u64| f8ue5m3::from_bits(0x40 + (bits % 0x80) as u8);
    for_seeds(|seed| {
        scaled::<f8e4m3, _, 64, 2>(seed, powers);
        scaled::<f8e5m2, _, 32, 1>(seed, powers);
        scaled::<f4e2m1, _, 64, 2>(seed, powers);
        scaled::<f4e2m1, _, 64, 4>(seed, powers);
        scaled::<f4e2m1, _, 16, 1>(seed, fractions);
        scaled::<f4e2m1, _, 64, 2>(seed, unsigned);
        scaled::<f4e2m1, _, 32, 2>(seed, unsigned);
    });
}

#[test]
fn extreme_scales_cancel() {
    cpu::block(|cx| {
        let one = |shape| cx.ones::<f32>(shape).cast::<f8e4m3>();
        let (a, b) = (one(shape![1, 32]), cx.ones::<f32>(shape![32, 1]).cast::<f8e4m3>());
        let (great, least) = (f8e8m0::MAX, f8e8m0::from_bits(0));
        let scaled = |a_scale, b_scale, b| {
            let (a_scale, b_scale) = (cx.full(shape![1, 1], a_scale), cx.full(shape![1, 1], b_scale));
            scaled_mma(a, a_scale, b, b_scale, cx.zeros::<f32>(shape![1, 1])).item()
        };
        assert_eq!(scaled(great, least, b), 32.0);
        assert_eq!(scaled(great, great, b), f32::INFINITY);
        assert_eq!(scaled(great, great, cx.zeros::<f8e4m3>(shape![32, 1])), 0.0);
        assert!(scaled(f8e8m0::NAN, least, cx.zeros::<f8e4m3>(shape![32, 1])).is_nan());
    });
}
