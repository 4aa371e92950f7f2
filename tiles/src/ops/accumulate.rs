//! Sums and products where one thread holds the whole tile, as on the CPU: grouped, so that the error grows with the
//! logarithm of the number of terms.
//!
//! Added up one after the other, 2^24 terms of `f32` have an error bound as large as the sum itself. A tree of additions
//! has the bound `h u sum |x|`, where `h` is its height and `u` the unit roundoff (N. Higham, "The accuracy of floating
//! point summation", 1993). Here `h` is at most [`TREE_SLACK`] above log2 n for sums, and at most `4 log2 n + `
//! [`RUNNING_SLACK`] for running sums.

use crate::layout::{BitMap, Field};
use core::array::from_fn;

/// Neighbouring elements that are added up side by side, by vector instructions.
const STRIP: usize = 16;
/// Base-2 logarithm of the terms that are added up one after the other, where a tree ends.
const LEAF_BITS: u32 = 3;
/// What the leaves add to the height of a tree: 7 additions where a tree has 3.
#[cfg(test)]
const TREE_SLACK: u32 = (1 << LEAF_BITS) - 1 - LEAF_BITS;
/// Elements, or groups of them, that a running sum joins one after the other.
const GROUP: usize = 16;
/// The height of running sums above `4 log2 n`: the last level may have few groups.
#[cfg(test)]
const RUNNING_SLACK: u32 = 12;

/// Combines the values whose indices differ in the bits `along` alone, by an associative and commutative `combine`; what is
/// left of index `i` goes to `left[places(i)]`. The number of values is a power of two.
pub(super) fn total<T: Copy, V: Copy>(
    values: &[T],
    along: usize,
    places: &BitMap,
    left: &mut [V],
    begin: impl Fn(T) -> V,
    combine: impl Fn(V, V) -> V,
) {
    if values.len() >= STRIP {
        by_strips::<T, V, STRIP>(values, along, places, left, begin, combine);
    } else {
        by_strips::<T, V, 1>(values, along, places, left, begin, combine);
    }
}

fn by_strips<T: Copy, V: Copy, const WIDTH: usize>(
    values: &[T],
    along: usize,
    places: &BitMap,
    left: &mut [V],
    begin: impl Fn(T) -> V,
    combine: impl Fn(V, V) -> V,
) {
    let (within, beyond) = (along & (WIDTH - 1), along & !(WIDTH - 1));
    let mut first = 0;
    while first < values.len() {
        let mut strip = tree::<T, V, WIDTH>(values, first, beyond, &begin, &combine);
        let mut bit = WIDTH / 2;
        while bit != 0 {
            if within & bit != 0 {
                strip = from_fn(|i| if i & bit == 0 { combine(strip[i], strip[i | bit]) } else { strip[i] });
            }
            bit /= 2;
        }
        for (i, total) in strip.into_iter().enumerate().filter(|(i, _)| i & within == 0) {
            left[places.apply(first + i)] = total;
        }
        // The next index that has no bit of `beyond`: ones there carry to the bits above.
        first = ((first | beyond) + WIDTH) & !beyond;
    }
}

/// The strips at `first` and every combination of the bits `along`, combined.
fn tree<T: Copy, V: Copy, const WIDTH: usize>(
    values: &[T],
    first: usize,
    along: usize,
    begin: &impl Fn(T) -> V,
    combine: &impl Fn(V, V) -> V,
) -> [V; WIDTH] {
    if along.count_ones() > LEAF_BITS {
        let half = 1 << along.ilog2();
        let low = tree::<T, V, WIDTH>(values, first, along ^ half, begin, combine);
        let high = tree::<T, V, WIDTH>(values, first | half, along ^ half, begin, combine);
        return from_fn(|i| combine(low[i], high[i]));
    }
    let strip = |at: usize| {
        let strip = &values[at..at + WIDTH];
        from_fn(|i| begin(strip[i]))
    };
    let mut total: [V; WIDTH] = strip(first);
    let mut at = 0;
    for _ in 1..1 << along.count_ones() {
        // The next combination of these bits.
        at = (at | !along).wrapping_add(1) & along;
        let next: [V; WIDTH] = strip(first + at);
        total = from_fn(|i| combine(total[i], next[i]));
    }
    total
}

/// Combines each value with all before it along an axis, whose coordinate the bits `axis` of an index are; `combine` is
/// associative. With `backward` the axis begins at its last value.
///
/// Runs of [`GROUP`] values are scanned one after the other, then their totals in runs of as many, and so on; going back
/// down, each value takes what lies before its run.
pub(super) fn running<V: Copy>(values: &mut [V], axis: Field, backward: bool, combine: impl Fn(V, V) -> V) {
    let (inner, length) = (1 << axis.first, axis.values());
    for part in values.chunks_exact_mut(inner * length) {
        let row = |coordinate: usize| inner * if backward { length - 1 - coordinate } else { coordinate };
        let mut join = |before: usize, own: usize| {
            let (before, own) = (row(before), row(own));
            // Along the innermost axis a loop over one element would take longer than the element.
            if inner == 1 {
                part[own] = combine(part[before], part[own]);
                return;
            }
            for i in 0..inner {
                part[own + i] = combine(part[before + i], part[own + i]);
            }
        };
        let mut run = 1;
        while run < length {
            // The totals of runs stand at their ends.
            for k in (1..length / run).filter(|k| k % GROUP != 0) {
                join(k * run - 1, (k + 1) * run - 1);
            }
            run *= GROUP;
        }
        run /= GROUP;
        while run > 1 {
            run /= GROUP;
            // The ends of groups have all before them already.
            for k in (GROUP..length / run).filter(|k| k % GROUP != GROUP - 1) {
                join(k / GROUP * GROUP * run - 1, (k + 1) * run - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::element::{Number, bf16, f16};
    use std::vec;
    use std::vec::Vec;

    /// The unit roundoff of `f32`.
    const UNIT: f64 = 1.0 / 16_777_216.0;

    /// Numbers that are hard to add up, by name.
    fn data(count: usize) -> [(&'static str, Vec<f32>); 6] {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / 16_777_216.0
        };
        let mut one_large = vec![1.0 + 1.0 / 3.0; count];
        one_large[0] = 1.0e7;
        [
            ("ones", vec![1.0; count]),
            ("tenths", vec![0.1; count]),
            ("of both signs", (0..count).map(|_| random() - 0.5).collect()),
            ("positive", (0..count).map(|_| random()).collect()),
            ("alternating", (0..count).map(|i| if i % 2 == 0 { 1.0 + random() } else { -1.5 }).collect()),
            ("one large, many small", one_large),
        ]
    }

    fn sum_of(values: &[f32], along: usize) -> f32 {
        let mut left = [f32::NAN];
        total(values, along, &BitMap::new(&[]), &mut left, |x| x, |a: f32, b| a + b);
        left[0]
    }

    #[test]
    fn sums_are_within_their_bound() {
        for log in 0..=24_u32 {
            for (name, x) in data(1 << log) {
                let exact: f64 = x.iter().map(|&x| f64::from(x)).sum();
                let size: f64 = x.iter().map(|&x| f64::from(x.abs())).sum();
                // The second term is what f64 loses here.
                let bound = (f64::from(log + TREE_SLACK) * 1.001 * UNIT + 2f64.powi(-29)) * size;
                let sum = f64::from(sum_of(&x, x.len() - 1));
                assert!((sum - exact).abs() <= bound, "2^{log} {name}: {sum}, {exact} within {bound}");
            }
        }
    }

    #[test]
    fn running_sums_are_within_their_bound() {
        for (log, backward) in (0..=14).flat_map(|log| [(log, false), (log, true)]).chain([(24, false)]) {
            for (name, x) in data(1 << log) {
                let mut sums = x.clone();
                running(&mut sums, Field { first: 0, count: log }, backward, |a, b| a + b);
                let (mut exact, mut size) = (0.0, 0.0);
                for k in 0..x.len() {
                    let at = if backward { x.len() - 1 - k } else { k };
                    exact += f64::from(x[at]);
                    size += f64::from(x[at].abs());
                    let bound = (f64::from(4 * log + RUNNING_SLACK) * 1.001 * UNIT + 2f64.powi(-29)) * size;
                    let error = (f64::from(sums[at]) - exact).abs();
                    assert!(error <= bound, "{k} of 2^{log} {name}: {error} above {bound}");
                }
            }
        }
    }

    #[test]
    fn sixteen_bits_are_added_up_in_f32() {
        let halves = vec![bf16::from_f32(0.5); 8192];
        let mut left = [0.0];
        total(&halves, 8191, &BitMap::new(&[]), &mut left, Number::to_accumulator, |a: f32, b| a + b);
        assert_eq!(left, [4096.0]);
        let ones = vec![f16::ONE; 4096];
        total(&ones, 4095, &BitMap::new(&[]), &mut left, Number::to_accumulator, |a: f32, b| a + b);
        assert_eq!(left, [4096.0]);
    }

    /// Every axis of every small tile, by sums of integers, in which no two subsets of the elements are the same.
    #[test]
    fn every_field_of_bits() {
        for bits in 0..=9_u32 {
            let values: Vec<u64> = (0..1_u64 << bits).map(|i| i * i * i + 1).collect();
            for first in 0..=bits {
                for count in 0..=bits - first {
                    let axis = Field { first, count };
                    let mut target = [-1; 9];
                    for bit in (0..bits).filter(|&bit| axis.mask() >> bit & 1 == 0) {
                        target[bit as usize] = if bit < first { bit } else { bit - count } as i8;
                    }
                    let mut left = vec![0; 1 << (bits - count)];
                    let places = BitMap::new(&target);
                    total(&values, axis.mask(), &places, &mut left, |x| x, u64::wrapping_add);
                    let mut expected = vec![0; left.len()];
                    let (mut forward, mut back) = (values.clone(), values.clone());
                    running(&mut forward, axis, false, u64::wrapping_add);
                    running(&mut back, axis, true, u64::wrapping_add);
                    for i in 0..values.len() {
                        expected[axis.others(i)] += values[i];
                        let alike = |j: &usize| axis.others(*j) == axis.others(i);
                        let before: u64 = (0..=i).filter(alike).map(|j| values[j]).sum();
                        let behind: u64 = (i..values.len()).filter(alike).map(|j| values[j]).sum();
                        assert_eq!((forward[i], back[i]), (before, behind), "{i} of 2^{bits}, {axis:?}");
                    }
                    assert_eq!(left, expected, "2^{bits}, {axis:?}");
                }
            }
        }
    }

    #[test]
    fn running_sums_keep_the_order() {
        // `b` after `a` is not `a` after `b`: maps x -> m x + c over the integers modulo 2^32.
        let maps: Vec<(u32, u32)> = (0..512).map(|i| (2 * i + 1, i * i)).collect();
        let then =
            |a: (u32, u32), b: (u32, u32)| (a.0.wrapping_mul(b.0), b.0.wrapping_mul(a.1).wrapping_add(b.1));
        let mut scanned = maps.clone();
        running(&mut scanned, Field { first: 0, count: 9 }, false, then);
        let mut so_far = maps[0];
        for k in 1..maps.len() {
            so_far = then(so_far, maps[k]);
            assert_eq!(scanned[k], so_far, "map {k}");
        }
    }

    #[test]
    fn no_identity_is_mixed_in() {
        let mut zeros = [-0.0_f32; 64];
        assert!(sum_of(&zeros, 63).is_sign_negative());
        running(&mut zeros, Field { first: 0, count: 6 }, false, |a, b| a + b);
        assert!(zeros.iter().all(|zero| zero.is_sign_negative()));
    }
}
