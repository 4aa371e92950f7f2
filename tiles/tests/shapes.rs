//! Broadcasting, reshaping and reductions of tiles of all ranks, against loops over coordinates.

mod common;

use common::{elements, tile};
use cuda_tiles::prelude::*;
use proptest::prelude::*;

/// Sizes of a shape's dimensions.
type Sizes<'a> = &'a [usize];

/// The coordinates of element `flat` of a row-major array.
fn coordinates(sizes: Sizes<'_>, mut flat: usize) -> Vec<usize> {
    let mut coordinates = vec![0; sizes.len()];
    for axis in (0..sizes.len()).rev() {
        coordinates[axis] = flat % sizes[axis];
        flat /= sizes[axis];
    }
    coordinates
}

/// The flat index of these coordinates.
fn flat(sizes: Sizes<'_>, coordinates: &[usize]) -> usize {
    sizes.iter().zip(coordinates).fold(0, |flat, (size, coordinate)| flat * size + coordinate)
}

/// The sizes that two shapes broadcast to, by NumPy's rules.
fn common_sizes(a: Sizes<'_>, b: Sizes<'_>) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let size = |sizes: Sizes<'_>, axis: usize| (axis + sizes.len()).checked_sub(rank).map_or(1, |k| sizes[k]);
    (0..rank).map(|axis| size(a, axis).max(size(b, axis))).collect()
}

/// The element of an array that stands at `place` of a larger array to which it broadcasts.
fn broadcast_element(values: &[i32], sizes: Sizes<'_>, place: &[usize]) -> i32 {
    let own = &place[place.len() - sizes.len()..];
    let own: Vec<usize> = own.iter().zip(sizes).map(|(coordinate, size)| coordinate % size).collect();
    values[flat(sizes, &own)]
}

fn numbers(len: usize, seed: i32) -> Vec<i32> {
    (0..len as i32).map(|i| (i + seed).wrapping_mul(0x9e37_79b1u32 as i32) >> 7).collect()
}

/// Checks pairs of shapes: `[2, 1] [4] = [2, 4]`.
macro_rules! broadcasts {
    ($([$($a:literal),*] [$($b:literal),*] = [$($c:literal),*];)*) => { $({
        let (a, b, c): (&[usize], &[usize], &[usize]) = (&[$($a),*], &[$($b),*], &[$($c),*]);
        assert_eq!(common_sizes(a, b), c, "the test's own rule");
        let left = numbers(a.iter().product(), 1);
        let right = numbers(b.iter().product(), 500);
        let (x, y) = (tile(&left, shape![$($a),*]), tile(&right, shape![$($b),*]));
        let sum: Tile<i32, _, _> = x - y;
        let _: Tile<i32, ($(D<$c>,)*), _> = sum;
        let expected: Vec<i32> = (0..c.iter().product())
            .map(|i| {
                let place = coordinates(c, i);
                broadcast_element(&left, a, &place) - broadcast_element(&right, b, &place)
            })
            .collect();
        assert_eq!(elements(sum), expected, "{a:?} - {b:?}");
        assert_eq!(elements(y.zip_map(x, |y, x| x - y)), expected, "{b:?} with {a:?}");
        let spread: Vec<i32> =
            (0..c.iter().product()).map(|i| broadcast_element(&left, a, &coordinates(c, i))).collect();
        assert_eq!(elements(x.broadcast(shape![$($c),*])), spread, "{a:?} to {c:?}");
    })* };
}

#[test]
fn shapes_broadcast_by_numpys_rules() {
    broadcasts! {
        [] [] = [];
        [] [4] = [4];
        [1] [8] = [8];
        [8] [8] = [8];
        [4] [] = [4];
        [2] [1] = [2];
        [1] [2, 4] = [2, 4];
        [4] [2, 1] = [2, 4];
        [4] [2, 4] = [2, 4];
        [2, 1] [1, 4] = [2, 4];
        [2, 1] [] = [2, 1];
        [1, 1] [16, 2] = [16, 2];
        [2] [4, 1, 2] = [4, 1, 2];
        [8, 1] [2, 1, 4] = [2, 8, 4];
        [2, 1, 4] [1, 8, 1] = [2, 8, 4];
        [2, 8, 4] [2, 8, 4] = [2, 8, 4];
        [] [2, 2, 2] = [2, 2, 2];
        [4] [2, 1, 8, 1] = [2, 1, 8, 4];
        [2, 1] [4, 2, 1, 8] = [4, 2, 2, 8];
        [1, 2, 1] [2, 4, 1, 2] = [2, 4, 2, 2];
        [2, 1, 4, 1] [1, 8, 1, 2] = [2, 8, 4, 2];
        [1, 1, 1, 1] [2, 2, 2, 4] = [2, 2, 2, 4];
        [] [2, 4, 2, 4] = [2, 4, 2, 4];
    }
}

#[test]
fn reshapes_keep_the_order() {
    let values = numbers(64, 3);
    let t = tile(&values, shape![64]);
    assert_eq!(elements(t.reshape(shape![8, 8])), values);
    assert_eq!(elements(t.reshape(shape![2, 1, 4, 8]).reshape(shape![16, 4])), values);
    let t: Tile<i32, Shape4<4, 1, 2, 8>, _> = t.reshape(shape![4, 2, 8]).expand_dims::<1>();
    assert_eq!(elements(t), values);
    let t: Tile<i32, Shape3<1, 64, 1>, _> = tile(&values, shape![64]).expand_dims::<0>().expand_dims::<2>();
    assert_eq!(elements(t), values);
    for (i, &value) in values.iter().enumerate() {
        assert_eq!(t.at([0, i as u32, 0]), value);
    }
}

/// The elements that a reduction over `axis` combines (`None`: all), for each of its results.
fn rows(values: &[i32], sizes: Sizes<'_>, axis: Option<usize>) -> Vec<Vec<i32>> {
    let Some(axis) = axis else { return vec![values.to_vec()] };
    let mut reduced = sizes.to_vec();
    reduced[axis] = 1;
    let mut rows = vec![Vec::new(); values.len() / sizes[axis]];
    for (i, &value) in values.iter().enumerate() {
        let mut place = coordinates(sizes, i);
        place[axis] = 0;
        rows[flat(&reduced, &place)].push(value);
    }
    rows
}

/// Where the first element stands that nothing beats.
fn first_best(row: &[i32], beats: impl Fn(i32, i32) -> bool) -> u32 {
    (0..row.len()).find(|&i| row.iter().all(|&other| !beats(other, row[i]))).expect("rows are not empty")
        as u32
}

/// Every reduction of a tile along each of the listed axes.
macro_rules! reductions {
    ($values:expr; $($sizes:tt: $axes:tt;)*) => { $( reductions!(@axes $values, $sizes, $axes); )* };
    (@axes $values:expr, $sizes:tt, ($($axis:tt)*)) => { $( reductions!(@one $values, $sizes, $axis); )* };
    (@one $values:expr, [$($size:literal),*], ALL) => { reductions!(@check $values, [$($size),*], ALL, None); };
    (@one $values:expr, [$($size:literal),*], $axis:literal) => { reductions!(@check $values, [$($size),*], $axis, Some($axis)); };
    (@check $values:expr, [$($size:literal),*], $axis:tt, $number:expr) => {{
        let sizes: &[usize] = &[$($size),*];
        let values: Vec<i32> = $values[..sizes.iter().product()].to_vec();
        let t = tile(&values, shape![$($size),*]);
        let rows = rows(&values, sizes, $number);
        let of_rows = |operation: &dyn Fn(&[i32]) -> i32| rows.iter().map(|row| operation(row)).collect::<Vec<_>>();
        assert_eq!(elements(t.sum::<$axis>()), of_rows(&|row| row.iter().fold(0, |a, b| a.wrapping_add(*b))));
        assert_eq!(elements(t.prod::<$axis>()), of_rows(&|row| row.iter().fold(1, |a, b| a.wrapping_mul(*b))));
        assert_eq!(elements(t.max::<$axis>()), of_rows(&|row| *row.iter().max().expect("not empty")));
        assert_eq!(elements(t.min::<$axis>()), of_rows(&|row| *row.iter().min().expect("not empty")));
        assert_eq!(
            elements(t.argmax::<$axis>()),
            rows.iter().map(|row| first_best(row, |a, b| a > b)).collect::<Vec<_>>()
        );
        assert_eq!(
            elements(t.argmin::<$axis>()),
            rows.iter().map(|row| first_best(row, |a, b| a < b)).collect::<Vec<_>>()
        );
        assert_eq!(
            elements(t.reduce::<$axis>(-1, |a, b| a & b)),
            of_rows(&|row| row.iter().fold(-1, |a, b| a & b))
        );
        let odd = (t % 2).ne(0);
        let odd_rows: Vec<(bool, bool)> =
            rows.iter().map(|row| (row.iter().any(|x| x % 2 != 0), row.iter().all(|x| x % 2 != 0))).collect();
        assert_eq!(elements(odd.any::<$axis>()), odd_rows.iter().map(|x| x.0).collect::<Vec<_>>());
        assert_eq!(elements(odd.all::<$axis>()), odd_rows.iter().map(|x| x.1).collect::<Vec<_>>());
        // The results go back to where they came from.
        let back = elements(t - t.max::<$axis>());
        let restored = elements(tile(&back, shape![$($size),*]) + t.max::<$axis>());
        assert_eq!(restored, values);
        assert!(elements(tile(&back, shape![$($size),*]).max::<$axis>()).iter().all(|&x| x == 0));
    }};
}

proptest! {
    #[test]
    fn reductions_over_every_axis(values in proptest::collection::vec(-50..50i32, 128)) {
        reductions! { values;
            []: (ALL);
            [1]: (0 ALL);
            [16]: (0 ALL);
            [1, 8]: (0 1 ALL);
            [8, 4]: (0 1 ALL);
            [16, 1]: (0 1 ALL);
            [2, 8, 4]: (0 1 2 ALL);
            [1, 4, 1]: (0 1 2 ALL);
            [4, 2, 8, 2]: (0 1 2 3 ALL);
            [2, 1, 4, 16]: (0 1 2 3 ALL);
        }
    }
}

#[test]
fn reductions_of_reductions() {
    let values = numbers(128, 9);
    let t = tile(&values, shape![2, 8, 8]);
    let twice = elements(t.max::<0>().max::<2>());
    let expected: Vec<i32> = (0..8)
        .map(|j| (0..16).map(|i| values[i / 8 * 64 + j * 8 + i % 8]).max().expect("not empty"))
        .collect();
    assert_eq!(twice, expected);
    assert_eq!(t.max::<0>().max::<2>().max::<ALL>().item(), *values.iter().max().expect("not empty"));
}

/// NaN in reductions: it gives way unless asked to win.
#[test]
fn nans_in_reductions() {
    let nan = f32::NAN;
    let t = tile(&[nan, 1.0, 3.0, 2.0, nan, nan, nan, nan], shape![2, 4]);
    let max = elements(t.max::<1>());
    assert!(max[0] == 3.0 && max[1].is_nan());
    let min = elements(t.min::<1>());
    assert!(min[0] == 1.0 && min[1].is_nan());
    assert!(elements(t.max_with::<1>(PropagateNan)).iter().all(|x| x.is_nan()));
    assert!(elements(t.min_with::<1>(PropagateNan)).iter().all(|x| x.is_nan()));
    assert_eq!(elements(t.argmax::<1>()), [2, 0]);
    assert_eq!(elements(t.argmin::<1>()), [1, 0]);
    assert_eq!(elements(t.argmax_with::<1>(PropagateNan)), [0, 0]);
    let zeros = tile(&[0.0f32, -0.0], shape![2]);
    assert!(zeros.max::<0>().item().is_sign_positive() && zeros.min::<0>().item().is_sign_negative());
}

/// Numbers up to the greatest that the type holds.
#[test]
fn iota_fills_its_type() {
    cuda_tiles::cpu::block(|cx| {
        assert_eq!(elements(cx.iota::<i8>(shape![2, 64])), (0..=127).collect::<Vec<i8>>());
        assert_eq!(elements(cx.iota::<u8>(shape![256])), (0..=255).collect::<Vec<u8>>());
        assert_eq!(elements(cx.iota::<u64>(shape![])), [0]);
        assert_eq!(elements(cx.ones::<bf16>(shape![2])), [bf16::ONE; 2]);
        assert_eq!(elements(cx.zeros::<bool>(shape![2])), [false; 2]);
    });
}

#[test]
fn elements_outside_a_tile() {
    let t = tile(&[1, 2, 3, 4], shape![2, 2]);
    let error = std::panic::catch_unwind(|| t.at([1, 2])).expect_err("the column is too large");
    let text = error.downcast_ref::<String>().expect("a formatted text");
    assert!(text.contains("index 2 is not below dimension 1 of the tile, 2"), "{text}");
}

/// The last number must fit the type, not the count: 256 numbers of `u8` and 128 of `i8` are legal, in any rank. (More
/// do not compile: `compile_fail/iota_overflow.rs`.)
#[test]
fn detail_30_and_53_iota_to_the_last_number_of_a_type() {
    cuda_tiles::cpu::block(|cx| {
        assert_eq!(cx.iota::<u8>(shape![2, 4, 32]).at([1, 3, 31]), u8::MAX);
        assert_eq!(cx.iota::<i8>(shape![128]).at([127]), i8::MAX);
        assert_eq!(cx.iota::<u16>(shape![]).item(), 0);
    });
}
