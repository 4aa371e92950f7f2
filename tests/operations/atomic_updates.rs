//! Atomic reads-modifies-writes: every operation and element type, by indices, through views and through pointers, alone
//! and against other blocks.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Random, Value, for_types, pairs, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::atomic_updates as kernels;

/// Whether a GPU's addition may take the value for zero: subnormal numbers of `f32`.
fn may_flush<T: Reference>(value: T) -> bool {
    T::NAME == "f32" && value.wide() != 0.0 && value.wide().abs() < f64::from(f32::MIN_POSITIVE)
}

/// What a test does to one row: the elements after it, and what it found.
struct Expected<T> {
    after: Vec<T>,
    before: Vec<T>,
}

/// Applies `function(element, value)` to the columns of a row that `touched` names; others are found to be `other(column)`.
fn apply<T: Value>(
    row: &[T],
    value: &[T],
    touched: impl Fn(usize) -> bool,
    function: impl Fn(T, T) -> T,
    other: impl Fn(usize) -> T,
) -> Expected<T> {
    let after = (0..row.len()).map(|j| if touched(j) { function(row[j], value[j]) } else { row[j] });
    let before = (0..row.len()).map(|j| if touched(j) { row[j] } else { other(j) });
    Expected { after: after.collect(), before: before.collect() }
}

/// Pairs of elements and values, special ones in all combinations; the last tile of 64 is a part of one.
fn operands<T: Reference>(seed: u64) -> (Vec<T>, Vec<T>) {
    let (mut elements, mut values) = pairs::<T, T>(seed, 300);
    let columns = elements.len() / 64 * 64 - 43;
    elements.truncate(columns);
    values.truncate(columns);
    (elements, values)
}

type Sums<T> = Kernel<(
    Span<T, (u32,)>,
    SpanAtomic<T, (D<8>, u32)>,
    SpanAtomic<T, (D<8>, u32)>,
    SpanAtomic<T, (D<8>, u32)>,
    SpanMut<T, (D<16>, u32)>,
)>;

/// Rows of odd length begin at odd places: their neighbours are not aligned to be added together.
fn check_sums<T: Reference>(kernel: &Sums<T>, less: usize) {
    let (mut x, mut value) = operands::<T>(211);
    x.truncate(x.len() - less);
    value.truncate(x.len());
    x.iter_mut().chain(&mut value).filter(|x| may_flush(**x)).for_each(|x| *x = T::small(1));
    let columns = value.len();
    let x = x.repeat(8);
    let functions: [fn(T, T) -> T; 4] = [T::plus, T::minus, T::smaller, T::larger];
    let mut failures = Failures::new::<T>("sums_and_extrema");
    for device in devices() {
        let operand = Tensor::from_slice(device, [columns], &value).unwrap();
        let [mut elements, mut views, mut pointers] =
            [(); 3].map(|()| Tensor::from_slice(device, [8, columns], &x).unwrap());
        let mut before = Tensor::poisoned(device, [16, columns]).unwrap();
        let arguments = (&operand, &mut elements, &mut views, &mut pointers, &mut before);
        kernel.launch(device, Grid::cover([columns], [64]), arguments).unwrap();
        let [elements, views, pointers, before] =
            [elements.to_vec(), views.to_vec(), pointers.to_vec(), before.to_vec()].map(Result::unwrap);
        for k in 0..8 {
            let row = k * columns..(k + 1) * columns;
            let x = &x[row.clone()];
            let masked = |j: usize| k < 4 || j.is_multiple_of(2);
            let expected = apply(x, &value, masked, functions[k % 4], |_| T::small(0));
            for (way, after, found) in [
                ("indices", &elements, &before[..8 * columns]),
                ("pointers", &pointers, &before[8 * columns..]),
            ] {
                let label = |what| format!("row {k} by {way}, {what}");
                failures.verify(device, &label("after"), &after[row.clone()], |j, got| {
                    let wanted = expected.after[j];
                    let fine = got.same(wanted) || (may_flush(wanted) && got.wide() == 0.0);
                    (!fine).then(|| format!("{wanted:?} from {:?} and {:?}", x[j], value[j]))
                });
                failures.exact(device, &label("before"), &found[row.clone()], |j| expected.before[j]);
            }
            let whole = |j: usize| k >= 4 || j < columns / 64 * 64;
            let expected = apply(x, &value, whole, functions[k % 4], |_| T::small(0));
            failures.verify(device, &format!("row {k} by views"), &views[row], |j, got| {
                let wanted = expected.after[j];
                let fine = got.same(wanted) || (may_flush(wanted) && got.wide() == 0.0);
                (!fine).then(|| format!("{wanted:?} from {:?} and {:?}", x[j], value[j]))
            });
        }
    }
}

#[test]
fn sums_and_extrema() {
    macro_rules! check {
        ($($type:ident)*) => { $(
            check_sums::<$type>(kernels::sums_and_extrema::<$type>(), 0);
            check_sums::<$type>(kernels::sums_and_extrema::<$type>(), 1);
        )* };
    }
    check!(i32 u32 i64 u64 f16 bf16 f32 f64);
}

/// Integers with bitwise operators of their own.
trait Bitwise:
    Reference + std::ops::BitAnd<Output = Self> + std::ops::BitOr<Output = Self> + std::ops::BitXor<Output = Self>
{
}
impl<T> Bitwise for T where
    T: Reference + std::ops::BitAnd<Output = T> + std::ops::BitOr<Output = T> + std::ops::BitXor<Output = T>
{
}

type Logic<T> = Kernel<(
    Span<T, (u32,)>,
    SpanAtomic<T, (D<6>, u32)>,
    SpanAtomic<T, (D<6>, u32)>,
    SpanAtomic<T, (D<6>, u32)>,
    SpanMut<T, (D<12>, u32)>,
)>;

fn check_logic<T: Bitwise>(kernel: &Logic<T>) {
    let (x, value) = operands::<T>(215);
    let columns = value.len();
    let x = x.repeat(6);
    let functions: [fn(T, T) -> T; 3] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b];
    let mut failures = Failures::new::<T>("logic");
    for device in devices() {
        let operand = Tensor::from_slice(device, [columns], &value).unwrap();
        let [mut elements, mut views, mut pointers] =
            [(); 3].map(|()| Tensor::from_slice(device, [6, columns], &x).unwrap());
        let mut before = Tensor::poisoned(device, [12, columns]).unwrap();
        let arguments = (&operand, &mut elements, &mut views, &mut pointers, &mut before);
        kernel.launch(device, Grid::cover([columns], [64]), arguments).unwrap();
        let [elements, views, pointers, before] =
            [elements.to_vec(), views.to_vec(), pointers.to_vec(), before.to_vec()].map(Result::unwrap);
        for k in 0..6 {
            let row = k * columns..(k + 1) * columns;
            let x = &x[row.clone()];
            let masked = |j: usize| k < 3 || j.is_multiple_of(2);
            let expected = apply(x, &value, masked, functions[k % 3], |_| T::small(0));
            for (way, after, found) in [
                ("indices", &elements, &before[..6 * columns]),
                ("pointers", &pointers, &before[6 * columns..]),
            ] {
                failures
                    .exact(device, &format!("row {k} by {way}"), &after[row.clone()], |j| expected.after[j]);
                failures.exact(device, &format!("before row {k} by {way}"), &found[row.clone()], |j| {
                    expected.before[j]
                });
            }
            let whole = |j: usize| k >= 3 || j < columns / 64 * 64;
            let expected = apply(x, &value, whole, functions[k % 3], |_| T::small(0));
            failures.exact(device, &format!("row {k} by views"), &views[row], |j| expected.after[j]);
        }
    }
}

#[test]
fn logic() {
    for_types!(check_logic, kernels::logical_updates: i32 u32 i64 u64);
}

type OwnChanges<T> = Kernel<(Span<T, (u32,)>, SpanMut<T, (D<7>, u32)>, SpanMut<T, (D<7>, u32)>)>;

fn check_own<T: Bitwise>(kernel: &OwnChanges<T>) {
    let (x, value) = operands::<T>(216);
    let columns = value.len();
    let functions: [fn(T, T) -> T; 7] =
        [T::plus, T::minus, T::smaller, T::larger, |a, b| a & b, |a, b| a | b, |a, b| a ^ b];
    let mut failures = Failures::new::<T>("own_changes");
    for device in devices() {
        let operand = Tensor::from_slice(device, [columns], &value).unwrap();
        let [mut whole, mut masked] =
            [(); 2].map(|()| Tensor::from_slice(device, [7, columns], &x.repeat(7)).unwrap());
        kernel.launch(device, Grid::cover([columns], [64]), (&operand, &mut whole, &mut masked)).unwrap();
        let function = |i: usize| functions[i / columns](x[i % columns], value[i % columns]);
        failures.exact(device, "masked", &masked.to_vec().unwrap(), function);
        failures.exact(device, "whole", &whole.to_vec().unwrap(), |i| {
            if i % columns < columns / 64 * 64 { function(i) } else { x[i % columns] }
        });
    }
}

#[test]
fn a_block_changes_its_own_tiles() {
    for_types!(check_own, kernels::own_changes: i32 u64);
}

type Exchanges<T> = Kernel<(
    Span<T, (u32,)>,
    Span<T, (u32,)>,
    SpanAtomic<T, (D<4>, u32)>,
    SpanAtomic<T, (D<4>, u32)>,
    SpanMut<T, (D<8>, u32)>,
)>;

/// Every other expected value is the element; among the rest are zeros of the other sign and NaN of other bits.
fn check_exchanges<T: Reference>(kernel: &Exchanges<T>) {
    let (row, others) = operands::<T>(212);
    let columns = row.len();
    let value = random_values::<T>(213, columns);
    let expected: Vec<T> = (0..columns).map(|j| if j % 4 < 2 { row[j] } else { others[j] }).collect();
    let x = row.repeat(4);
    let same_bits = |a: T, b: T| a.to_bits() == b.to_bits();
    let mut failures = Failures::new::<T>("exchanges");
    for device in devices() {
        let [operand, wanted] =
            [&value, &expected].map(|x| Tensor::from_slice(device, [columns], x).unwrap());
        let [mut elements, mut pointers] =
            [(); 2].map(|()| Tensor::from_slice(device, [4, columns], &x).unwrap());
        let mut before = Tensor::poisoned(device, [8, columns]).unwrap();
        let arguments = (&operand, &wanted, &mut elements, &mut pointers, &mut before);
        kernel.launch(device, Grid::cover([columns], [64]), arguments).unwrap();
        let [elements, pointers, before] =
            [elements.to_vec(), pointers.to_vec(), before.to_vec()].map(Result::unwrap);
        for k in 0..4 {
            let lines = k * columns..(k + 1) * columns;
            let touched = |j: usize| k < 2 || j.is_multiple_of(2);
            let swaps = |j: usize| touched(j) && (k % 2 == 0 || same_bits(row[j], expected[j]));
            for (way, after, found) in [
                ("indices", &elements, &before[..4 * columns]),
                ("pointers", &pointers, &before[4 * columns..]),
            ] {
                failures.verify(device, &format!("row {k} by {way}"), &after[lines.clone()], |j, got| {
                    let wanted = if swaps(j) { value[j] } else { row[j] };
                    (!same_bits(got, wanted)).then(|| format!("{wanted:?}"))
                });
                failures.verify(
                    device,
                    &format!("before row {k} by {way}"),
                    &found[lines.clone()],
                    |j, got| {
                        let untouched = if k % 2 == 1 { expected[j] } else { T::small(0) };
                        let wanted = if touched(j) { row[j] } else { untouched };
                        (!same_bits(got, wanted)).then(|| format!("{wanted:?}"))
                    },
                );
            }
        }
    }
}

#[test]
fn detail_42_exchanges_compare_bits() {
    for_types!(check_exchanges, kernels::exchanges: i32 u32 i64 u64 f32 f64);
}

type Outside<T> = Kernel<(T, T, Span<i32, (u32,)>, SpanAtomic<T, (D<6>, u32)>, SpanMut<T, (D<6>, u32)>)>;

/// Outside, a compare-exchange finds what it expects, other updates find zero, and nothing changes.
fn check_outside<T: Reference>(kernel: &Outside<T>) {
    let j = [3, -1, 10, 0, i32::MIN, 9, 11, i32::MAX];
    let (value, expected) = (T::small(3), T::small(7));
    let x: Vec<T> = (0..6 * 10).map(|i| T::small(i as i8 % 10 + 4)).collect();
    let functions: [fn(T, T) -> T; 6] = [
        |_, value| value,
        |x, value| if x.same(T::small(7)) { value } else { x },
        T::plus,
        T::minus,
        T::smaller,
        T::larger,
    ];
    let mut failures = Failures::new::<T>("outside");
    for device in devices() {
        let columns = Tensor::from_slice(device, [8], &j).unwrap();
        let mut elements = Tensor::from_slice(device, [6, 10], &x).unwrap();
        let mut found = Tensor::poisoned(device, [6, 8]).unwrap();
        kernel.launch(device, 1, (value, expected, &columns, &mut elements, &mut found)).unwrap();
        failures.exact(device, "found", &found.to_vec().unwrap(), |i| match usize::try_from(j[i % 8]) {
            Ok(column) if column < 10 => x[i / 8 * 10 + column],
            _ if i / 8 == 1 => expected,
            _ => T::small(0),
        });
        failures.exact(device, "after", &elements.to_vec().unwrap(), |i| {
            if [0, 3, 9].contains(&(i % 10)) { functions[i / 10](x[i], value) } else { x[i] }
        });
    }
}

#[test]
fn detail_43_updates_outside_the_tensor_do_nothing() {
    for_types!(check_outside, kernels::outside: i32 u64 f32 f64);
}

type Contended<T> =
    Kernel<(SpanAtomic<T, (D<5>, D<16>)>, SpanAtomic<u32, (D<16>,)>, SpanAtomic<u32, (D<16>,)>)>;

/// Sums stay whole numbers that even bf16 has.
fn check_contended<T: Reference>(kernel: &Contended<T>) {
    let blocks: usize = if size_of::<T>() == 2 { 12 } else { 300 };
    let initial: Vec<T> = [0, 0, 100, 100, 0].iter().flat_map(|&x| [T::small(x); 16]).collect();
    let mut failures = Failures::new::<T>("contended");
    for device in devices() {
        let mut totals = Tensor::from_slice(device, [5, 16], &initial).unwrap();
        let mut claims = Tensor::<u32, 1>::zeros(device, [16]).unwrap();
        let mut winners = Tensor::<u32, 1>::zeros(device, [16]).unwrap();
        kernel.launch(device, blocks as u32, (&mut totals, &mut claims, &mut winners)).unwrap();
        failures.verify(device, "totals", &totals.to_vec().unwrap(), |i, got| {
            let (row, c, n) = (i / 16, i % 16, blocks as f64);
            let wanted = match row {
                0 => n,
                1 => n * (n - 1.0) / 2.0 + n * c as f64,
                2 => 100.0 - n,
                3 => c as f64,
                _ => n - 1.0 + c as f64,
            };
            // Unsigned numbers count down past zero.
            let wanted = if T::SPECIAL[0].wide() == 0.0 && wanted < 0.0 {
                T::minus(T::small(100), T::narrow(n))
            } else {
                T::narrow(wanted)
            };
            (!got.same(wanted)).then(|| format!("{wanted:?}"))
        });
        failures.verify(device, "claims", &claims.to_vec().unwrap(), |_, got| {
            (!(1..=blocks as u32).contains(&got)).then(|| "a block's number".into())
        });
        failures.exact(device, "winners", &winners.to_vec().unwrap(), |_| 1);
    }
}

#[test]
fn blocks_change_the_same_elements() {
    for_types!(check_contended, kernels::contended: i32 u32 i64 u64 f16 bf16 f32 f64);
}

/// An index occurs many times in one tile: each occurrence counts, and finds another count.
#[test]
fn detail_42_duplicates_in_one_tile_all_count() {
    let mut random = Random::new(214);
    let x: Vec<u8> = (0..64 * 1024).map(|i| if i % 2 == 0 { 7 } else { random.below(256) as u8 }).collect();
    let mut counts = [0u32; 256];
    x.iter().for_each(|&x| counts[usize::from(x)] += 1);
    let mut failures = Failures::new::<u32>("counts_of_bytes");
    for device in devices() {
        let operand = Tensor::from_slice(device, [x.len()], &x).unwrap();
        let mut found = Tensor::<u32, 1>::zeros(device, [256]).unwrap();
        let mut sums = Tensor::<u64, 1>::zeros(device, [256]).unwrap();
        kernels::counts_of_bytes.launch(device, 64, (&operand, &mut found, &mut sums)).unwrap();
        failures.exact(device, "counts", &found.to_vec().unwrap(), |i| counts[i]);
        failures.exact(device, "what the additions found", &sums.to_vec().unwrap(), |i| {
            let n = u64::from(counts[i]);
            n * n.saturating_sub(1) / 2
        });
    }
}

/// The block that takes the last ticket sees what all others stored before they took theirs.
#[test]
fn an_update_releases_and_acquires() {
    const BLOCKS: u32 = 200;
    let mut failures = Failures::new::<u32>("last_block");
    for device in devices() {
        for _ in 0..20 {
            let mut partial = Tensor::poisoned(device, [BLOCKS as usize, 256]).unwrap();
            let mut ticket = Tensor::<u32, 1>::zeros(device, [1]).unwrap();
            let mut total = Tensor::<u32, 2>::zeros(device, [BLOCKS as usize, 256]).unwrap();
            kernels::last_block.launch(device, BLOCKS, (&mut partial, &mut ticket, &mut total)).unwrap();
            let total = total.to_vec().unwrap();
            let rows: Vec<_> = total.chunks(256).filter(|row| row.iter().any(|&x| x != 0)).collect();
            assert_eq!(rows.len(), 1, "one block takes the last ticket");
            failures.exact(device, "the sum of all tiles", rows[0], |i| {
                BLOCKS * i as u32 + BLOCKS * (BLOCKS - 1) / 2
            });
        }
    }
}
