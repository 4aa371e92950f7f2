//! Arithmetic, order and logic of tiles on random and special values, against exact arithmetic.

mod common;

use common::{Exact, Sample, elements, tile};
use cuda_tiles::prelude::*;
use proptest::prelude::*;
use std::cmp::Ordering;

/// Elements of the tiles under test.
const LEN: usize = 32;

/// Pairs of values as the elements of two tiles; the last tile is filled up with the first pair.
fn tiles<T: Sample>(pairs: &[(T, T)]) -> impl Iterator<Item = ([T; LEN], [T; LEN])> {
    pairs.chunks(LEN).map(|chunk| {
        let at = |i: usize| chunk.get(i).copied().unwrap_or(pairs[0]);
        (std::array::from_fn(|i| at(i).0), std::array::from_fn(|i| at(i).1))
    })
}

/// Compares the elements of a tile with what `expected` says of each pair of operands.
fn assert_elements<T: Sample, U: Sample, S: Shape, L: Layout>(
    name: &str,
    (a, b): (&[T; LEN], &[T; LEN]),
    found: Tile<U, S, L>,
    expected: impl Fn(T, T) -> U,
) {
    for (i, found) in elements(found).into_iter().enumerate() {
        let expected = expected(a[i], b[i]);
        assert!(
            found.same(expected),
            "{name} of {:?} and {:?} ({}): {found:?}, expected {expected:?}",
            a[i],
            b[i],
            T::NAME
        );
    }
}

/// Runs `check` on every special value against every other, and on random pairs.
fn for_pairs<T: Sample>(check: impl Fn(&[T; LEN], &[T; LEN])) {
    let special = T::special();
    let pairs: Vec<(T, T)> = special.iter().flat_map(|&a| special.iter().map(move |&b| (a, b))).collect();
    tiles(&pairs).for_each(|(a, b)| check(&a, &b));
    let random = proptest::collection::vec(any::<(u64, u64)>(), LEN);
    proptest::test_runner::TestRunner::deterministic()
        .run(&random, |random| {
            // High bits alone give numbers of all magnitudes.
            let any: Vec<(T, T)> = random.iter().map(|&(a, b)| (T::of_bits(a), T::of_bits(b))).collect();
            let even =
                random.iter().map(|&(a, b)| (T::of_bits(a >> (a % 64)), T::of_bits(b >> (b % 64)))).collect();
            for pairs in [any, even] {
                tiles(&pairs).for_each(|(a, b)| check(&a, &b));
            }
            Ok(())
        })
        .expect("all operations agree");
}

fn integer<T: Sample>(value: T) -> i128 {
    match value.exact() {
        Exact::Integer(number) => number,
        Exact::Real(_) => unreachable!("called for integers"),
    }
}

fn real<T: Sample>(value: T) -> f64 {
    match value.exact() {
        Exact::Real(number) => number,
        Exact::Integer(_) => unreachable!("called for floats"),
    }
}

/// The six comparisons of two tiles, by the order of exact values.
fn assert_comparisons<T: Sample + Number>(
    a: &[T; LEN],
    b: &[T; LEN],
    order: impl Fn(T, T) -> Option<Ordering>,
) {
    let (x, y) = (tile(a, shape![4, 8]), tile(b, shape![4, 8]));
    assert_elements("eq", (a, b), x.eq(y), |a, b| order(a, b) == Some(Ordering::Equal));
    assert_elements("ne", (a, b), x.ne(y), |a, b| order(a, b) != Some(Ordering::Equal));
    assert_elements("lt", (a, b), x.lt(y), |a, b| order(a, b) == Some(Ordering::Less));
    assert_elements("le", (a, b), x.le(y), |a, b| order(a, b).is_some_and(Ordering::is_le));
    assert_elements("gt", (a, b), x.gt(y), |a, b| order(a, b) == Some(Ordering::Greater));
    assert_elements("ge", (a, b), x.ge(y), |a, b| order(a, b).is_some_and(Ordering::is_ge));
}

fn assert_integers<T: Sample + Integer>(minimum: i128) {
    for_pairs::<T>(|a, b| {
        let both = (a, b);
        let (x, y) = (tile(a, shape![LEN]), tile(b, shape![LEN]));
        let wrapped = |number: i128| T::of(Exact::Integer(number));
        let on =
            |operation: fn(i128, i128) -> i128| move |a: T, b: T| wrapped(operation(integer(a), integer(b)));
        assert_elements("+", both, x + y, on(|a, b| a + b));
        assert_elements("-", both, x - y, on(|a, b| a - b));
        assert_elements("*", both, x * y, on(|a, b| a.wrapping_mul(b)));
        assert_elements("/", both, x / y, on(|a, b| if b == 0 { 0 } else { a / b }));
        assert_elements("%", both, x % y, on(|a, b| if b == 0 { a } else { a % b }));
        assert_elements("&", both, x & y, on(|a, b| a & b));
        assert_elements("|", both, x | y, on(|a, b| a | b));
        assert_elements("^", both, x ^ y, on(|a, b| a ^ b));
        assert_elements("!", both, !x, on(|a, _| !a));
        assert_elements("negation", both, -x, on(|a, _| -a));
        assert_elements("abs", both, x.abs(), on(|a, _| a.abs()));
        assert_elements("minimum", both, x.minimum(y), on(Ord::min));
        assert_elements("maximum", both, x.maximum(y), on(Ord::max));
        assert_elements("maximum_with", both, x.maximum_with(y, PropagateNan), on(Ord::max));
        assert_elements("is_nan", both, x.is_nan(), |_, _| false);
        assert_comparisons(a, b, |a, b| Some(integer(a).cmp(&integer(b))));
        // Only the amount's own type tells a negative amount from a huge one, and both shift everything out.
        let width = i128::from(T::WIDTH);
        assert_elements("<<", both, x << y, |a, b| {
            let amount = integer(b);
            wrapped(if (0..width).contains(&amount) { integer(a) << amount } else { 0 })
        });
        assert_elements(">>", both, x >> y, |a, b| {
            let amount = integer(b);
            wrapped(integer(a) >> if (0..width).contains(&amount) { amount } else { 127 })
        });
        for amount in [0, 1, T::WIDTH - 1, T::WIDTH, T::WIDTH + 1, 255, u32::MAX] {
            let most = amount.min(127);
            assert_elements("<< n", both, x << amount, |a, _| {
                wrapped(if amount < T::WIDTH { integer(a) << amount } else { 0 })
            });
            assert_elements(">> n", both, x >> amount, |a, _| wrapped(integer(a) >> most));
        }
    });
    assert_eq!(integer(T::LOWEST), minimum);
    assert!(T::HIGHEST.same(Logical::not(T::LOWEST)));
}

#[test]
fn integers() {
    assert_integers::<i8>(i8::MIN.into());
    assert_integers::<i16>(i16::MIN.into());
    assert_integers::<i32>(i32::MIN.into());
    assert_integers::<i64>(i64::MIN.into());
    assert_integers::<u8>(0);
    assert_integers::<u16>(0);
    assert_integers::<u32>(0);
    assert_integers::<u64>(0);
}

/// The least of two numbers, -0 before +0, a NaN giving way.
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return if a.is_nan() { b } else { a };
    }
    if a.total_cmp(&b).is_le() { a } else { b }
}

/// The floats whose arithmetic f64 holds exactly, or so nearly that rounding twice is innocuous: it has more than
/// twice their precision and two bits (Figueroa, "When is double rounding innocuous?", 1995).
fn assert_floats<T: Sample + Float>() {
    for_pairs::<T>(|a, b| {
        let both = (a, b);
        let (x, y) = (tile(a, shape![LEN]), tile(b, shape![LEN]));
        let on = |operation: fn(f64, f64) -> f64| {
            move |a: T, b: T| T::of(Exact::Real(operation(real(a), real(b))))
        };
        assert_elements("+", both, x + y, on(|a, b| a + b));
        assert_elements("-", both, x - y, on(|a, b| a - b));
        assert_elements("*", both, x * y, on(|a, b| a * b));
        assert_elements("/", both, x / y, on(|a, b| a / b));
        assert_elements("%", both, x % y, on(|a, b| a % b));
        assert_float_order(a, b);
    });
}

/// Order, signs and classes, which are exact in every float.
fn assert_float_order<T: Sample + Float>(a: &[T; LEN], b: &[T; LEN]) {
    let both = (a, b);
    let (x, y) = (tile(a, shape![LEN]), tile(b, shape![LEN]));
    let on =
        |operation: fn(f64, f64) -> f64| move |a: T, b: T| T::of(Exact::Real(operation(real(a), real(b))));
    assert_elements("negation", both, -x, on(|a, _| -a));
    assert_elements("abs", both, x.abs(), on(|a, _| a.abs()));
    assert_elements("floor", both, x.floor(), on(|a, _| a.floor()));
    assert_elements("ceil", both, x.ceil(), on(|a, _| a.ceil()));
    assert_elements("minimum", both, x.minimum(y), on(least));
    assert_elements("maximum", both, x.maximum(y), on(|a, b| -least(-a, -b)));
    let propagated = |a: f64, b: f64| if a.is_nan() || b.is_nan() { f64::NAN } else { least(a, b) };
    assert_elements("minimum_with", both, x.minimum_with(y, PropagateNan), |a, b| {
        T::of(Exact::Real(propagated(real(a), real(b))))
    });
    assert_elements("maximum_with", both, x.maximum_with(y, PropagateNan), |a, b| {
        T::of(Exact::Real(-propagated(-real(a), -real(b))))
    });
    assert_elements("is_nan", both, x.is_nan(), |a, _| real(a).is_nan());
    assert_elements("is_infinite", both, x.is_infinite(), |a, _| real(a).is_infinite());
    assert_comparisons(a, b, |a, b| real(a).partial_cmp(&real(b)));
}

#[test]
fn halves() {
    assert_floats::<f16>();
    assert_floats::<bf16>();
}

#[test]
fn singles() {
    assert_floats::<f32>();
}

/// f64 has no wider type to compare with: its arithmetic is the host's own.
#[test]
fn doubles() {
    for_pairs::<f64>(|a, b| {
        let both = (a, b);
        let (x, y) = (tile(a, shape![LEN]), tile(b, shape![LEN]));
        assert_elements("+", both, x + y, |a, b| a + b);
        assert_elements("-", both, x - y, |a, b| a - b);
        assert_elements("*", both, x * y, |a, b| a * b);
        assert_elements("/", both, x / y, |a, b| a / b);
        assert_elements("%", both, x % y, |a, b| a % b);
        assert_elements("fma", both, x.fma(y, x), |a, b| a.mul_add(b, a));
        assert_float_order(a, b);
    });
}

/// Scalars on either side take the tile's type; `f32` literals serve tiles of the 16-bit floats.
#[test]
fn scalars() {
    let t = tile(&[1i32, -2, 3, 4], shape![4]);
    assert_eq!(elements(10 - t), [9, 12, 7, 6]);
    assert_eq!(elements(t * 3 % 4), [3, -2, 1, 0]);
    assert_eq!(elements(6 / t), [6, -3, 2, 1]);
    assert_eq!(elements(0xff & !t), [0xfe, 1, 0xfc, 0xfb]);
    let h = tile(&[1.0f32, 2.0, 3.0, 4.0].map(f16::from_f32), shape![4]);
    assert_eq!(elements((1.0 - h / 2.0).cast::<f32>()), [0.5, 0.0, -0.5, -1.0]);
    let b = tile(&[true, false], shape![2]);
    assert_eq!(elements(b ^ true), elements(!b));
}

#[test]
fn bool_logic_and_selection() {
    let (a, b) = (tile(&[false, false, true, true], shape![4]), tile(&[false, true, false, true], shape![4]));
    assert_eq!(elements(a & b), [false, false, false, true]);
    assert_eq!(elements(a | b), [false, true, true, true]);
    assert_eq!(elements(a ^ b), [false, true, true, false]);
    let (rows, column) = (tile(&[1, 2, 3, 4], shape![4]), tile(&[-1, -2], shape![2, 1]));
    assert_eq!(elements(a.select(rows, column)), [-1, -1, 3, 4, -2, -2, 3, 4]);
}
