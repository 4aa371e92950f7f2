//! Conversions between all pairs of element types, against exact arithmetic.

mod common;

use common::{Exact, Sample, elements, tile};
use cuda_tiles::prelude::*;
use proptest::prelude::*;

/// Converts values in three ways, and compares each with exact arithmetic.
fn assert_casts<T: Sample + Cast<U>, U: Sample>(values: &[T]) {
    for &value in values {
        let (expected, found) = (U::of(value.exact()), value.cast());
        assert!(
            found.same(expected),
            "{value:?} ({}) as {} is {found:?}, expected {expected:?}",
            T::NAME,
            U::NAME
        );
    }
    for pair in values.windows(2) {
        let found = T::cast_pair(pair[0], pair[1]);
        let expected = [pair[0].cast(), pair[1].cast()];
        assert!(
            found[0].same(expected[0]) && found[1].same(expected[1]),
            "the pair {pair:?} as {} is {found:?}, expected {expected:?}",
            U::NAME
        );
    }
    for four in values.chunks_exact(4) {
        let found = elements(tile(four, shape![2, 2]).cast::<U>());
        let same = found.iter().zip(four).all(|(found, &value)| found.same(value.cast()));
        assert!(same, "the tile {four:?} as {} is {found:?}", U::NAME);
    }
}

macro_rules! from_each_to_all {
    ($types:tt) => { from_each_to_all!(@rows $types $types); };
    (@rows ($($from:ident)*) $types:tt) => { $(
        #[test]
        fn $from() {
            from_each_to_all!(@row $from $from::special(); $types);
            let mut runner = proptest::test_runner::TestRunner::deterministic();
            let bits = proptest::collection::vec(any::<u64>(), 64);
            runner
                .run(&bits, |bits| {
                    // High bits alone give numbers of all magnitudes.
                    let values: Vec<$from> = bits
                        .iter()
                        .flat_map(|&bits| [<$from>::of_bits(bits), <$from>::of_bits(bits >> (bits % 64))])
                        .collect();
                    from_each_to_all!(@row $from values; $types);
                    Ok(())
                })
                .expect("all conversions agree");
        }
    )* };
    (@row $from:ident $values:expr; ($($to:ident)*)) => { $( assert_casts::<$from, $to>(&$values); )* };
}

mod from {
    use super::*;
    from_each_to_all!((bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64));
}

/// Values at which rounding twice goes wrong: just beside the middle of two neighbours, by less than the type in
/// between can tell.
#[test]
fn conversions_to_short_floats_round_once() {
    let mut values = Vec::new();
    for exponent in 8..62 {
        for mantissa in 256..512u64 {
            let middle = (2 * mantissa + 1) << (exponent - 8);
            values.extend([middle - 1, middle, middle + 1]);
        }
    }
    assert_casts::<u64, bf16>(&values);
    assert_casts::<u64, f32>(&values);
    let signed: Vec<i64> = values.iter().map(|&value| -(value as i64)).collect();
    assert_casts::<i64, bf16>(&signed);
    assert_casts::<i64, f16>(&signed);
    let words: Vec<u32> = values.iter().filter_map(|&value| u32::try_from(value).ok()).collect();
    assert_casts::<u32, bf16>(&words);
    assert_casts::<u32, f16>(&words);
    let doubles: Vec<f64> = (0..2048)
        .map(|mantissa| 1.0 + (f64::from(mantissa) + 0.5) / 2048.0)
        .flat_map(|middle| [middle.next_down(), middle, middle.next_up()])
        .flat_map(|value| [value, value * 2f64.powi(-16), value * 2f64.powi(-24), value * 2f64.powi(-130)])
        .collect();
    assert_casts::<f64, f16>(&doubles);
    assert_casts::<f64, bf16>(&doubles);
}

/// The rules in examples that need no arithmetic.
#[test]
fn detail_28_documented_conversions() {
    assert_eq!(Cast::<i8>::cast(-2.75f32), -2);
    assert_eq!(Cast::<u8>::cast(-2.75f32), 0);
    assert_eq!(Cast::<u8>::cast(f32::INFINITY), 255);
    assert_eq!(Cast::<i32>::cast(f64::NAN), 0);
    assert_eq!(Cast::<i8>::cast(200u8), -56);
    assert_eq!(Cast::<u64>::cast(-1i8), u64::MAX);
    assert!(Cast::<bool>::cast(f16::NAN) && !Cast::<bool>::cast(-0.0f64));
    assert_eq!(Cast::<bf16>::cast(true).exact(), Exact::Real(1.0));
    assert_eq!(Cast::<f16>::cast(65519.0f32).exact(), Exact::Real(65504.0));
    assert_eq!(Cast::<f16>::cast(65520.0f32).exact(), Exact::Real(f64::INFINITY));
}

#[test]
fn bitcasts_keep_bits() {
    let values = [0u16, 0x3c00, 0x7c01, 0xffff];
    let halves = tile(&values, shape![4]).bitcast::<f16>();
    assert_eq!(elements(halves.bitcast::<i16>()), [0, 0x3c00, 0x7c01, -1]);
    assert_eq!(elements(halves.bitcast::<u16>()), values);
    assert_eq!(elements(tile(&[0u8, 1, 2, 255], shape![4]).bitcast::<bool>()), [false, true, true, true]);
    assert_eq!(elements(tile(&[-0.0f64], shape![1]).bitcast::<u64>()), [1 << 63]);
}
