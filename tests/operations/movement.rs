//! Elements that move within a tile: axes in another order, flips and rolls, joins, cuts, picks and counts.
//!
//! References say for each element of the result, by coordinates, which element of the operand it is.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Random, Value, for_types, random_values, values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::movement as kernels;
use cuda_tiles_test_kernels::{Input, Output};

/// Special values first, then random ones, `count` altogether.
fn elements<T: Value>(seed: u64, count: usize) -> Vec<T> {
    values(seed, count).into_iter().take(count).collect()
}

type Transposes<T> = Kernel<(Input<T, (u32, D<128>)>, Output<T, (D<128>, Mult<u32, 64>)>)>;

fn check_transposes<T: Value>(kernel: &Transposes<T>) {
    let mut failures = Failures::new::<T>("transposes");
    for rows in [64, 192] {
        let x = elements::<T>(101, rows * 128);
        for device in devices() {
            let a = Tensor::from_slice(device, [rows, 128], &x).unwrap();
            let mut y = Tensor::poisoned(device, [128, rows]).unwrap();
            kernel.launch(device, Grid::cover([rows, 128], [64, 64]), (&a, &mut y)).unwrap();
            let transposed = |k: usize| x[k % rows * 128 + k / rows];
            failures.exact(device, "transpose", &y.to_vec().unwrap(), transposed);
        }
    }
}

type LargeMoves<T> =
    Kernel<(Input<T, (D<64>, D<128>)>, i32, Output<T, (D<128>, D<64>)>, Output<T, (D<64>, D<128>)>)>;

fn check_large_moves<T: Value>(kernel: &LargeMoves<T>) {
    let mut failures = Failures::new::<T>("large_moves");
    let x = elements::<T>(102, 8192);
    for device in devices() {
        for shift in [1, -1000, 4096] {
            let a = Tensor::from_slice(device, [64, 128], &x).unwrap();
            let mut transposed = Tensor::poisoned(device, [128, 64]).unwrap();
            let mut rolled = Tensor::poisoned(device, [64, 128]).unwrap();
            kernel.launch(device, 1, (&a, shift, &mut transposed, &mut rolled)).unwrap();
            failures.exact(device, "transpose", &transposed.to_vec().unwrap(), |k| x[k % 64 * 128 + k / 64]);
            failures.exact(device, "roll", &rolled.to_vec().unwrap(), |k| {
                x[(k as i32 - shift).rem_euclid(8192) as usize]
            });
        }
    }
}

#[test]
fn transposes() {
    for_types!(check_transposes, kernels::transposes: i8 f16 f32 f64);
}

#[test]
fn tiles_larger_than_the_scratch_memory() {
    for_types!(check_large_moves, kernels::large_moves: u8 bf16 i32 f64);
}

type Orders<T> = Kernel<(Input<T, (D<32>, D<16>)>, i32, Output<T, (D<12>, D<512>)>)>;

fn check_orders<T: Value>(kernel: &Orders<T>) {
    let x = elements::<T>(103, 512);
    let mut failures = Failures::new::<T>("orders");
    for device in devices() {
        let a = Tensor::from_slice(device, [32, 16], &x).unwrap();
        for shift in [0, 1, -1, 7, 100, -40, i32::MIN, i32::MAX] {
            let mut results = Tensor::poisoned(device, [12, 512]).unwrap();
            kernel.launch(device, 1, (&a, shift, &mut results)).unwrap();
            let back = |place: usize, shift: i32, length: i64| {
                (place as i64 - i64::from(shift)).rem_euclid(length) as usize
            };
            let rows: [(&str, &dyn Fn(usize) -> usize); 12] = [
                ("transpose", &|k| k % 32 * 16 + k / 32),
                ("permute 2 0 1", &|k| (k / 8 % 4 * 8 + k % 8) * 16 + k / 32),
                ("axes reversed", &|k| ((k % 2 * 4 + k / 2 % 4) * 4 + k / 8 % 4) * 16 + k / 32),
                ("transpose 1 2", &|k| (k / 128 * 8 + k % 8) * 16 + k / 8 % 16),
                ("flip 0", &|k| (31 - k / 16) * 16 + k % 16),
                ("flip 1", &|k| k / 16 * 16 + 15 - k % 16),
                ("flip all", &|k| 511 - k),
                ("roll 0", &|k| back(k / 16, shift, 32) * 16 + k % 16),
                ("roll 1 backward", &|k| k / 16 * 16 + back(k % 16, shift.wrapping_neg(), 16)),
                ("roll all", &|k| back(k, shift, 512)),
                ("roll by 5", &|k| back(k / 16, 5, 32) * 16 + k % 16),
                ("roll in registers", &|k| k / 4 * 4 + back(k % 4, shift, 4)),
            ];
            for ((name, source), got) in rows.iter().zip(results.to_vec().unwrap().chunks(512)) {
                failures.exact(device, &format!("{name}, shift {shift}"), got, |k| x[source(k)]);
            }
        }
    }
}

#[test]
fn orders_of_axes_and_elements() {
    for_types!(check_orders, kernels::orders: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

/// Two axes are swapped, at every rank, and a batch of matrices by axes 1 and 2; the first two of rank 3 are no default.
#[test]
fn detail_35_transpose_names_its_axes() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.iota::<i32>(shape![2, 4, 8]);
        let (swapped, batch): (Tile<i32, Shape3<4, 2, 8>, _>, Tile<i32, Shape3<2, 8, 4>, _>) =
            (t.transpose::<0, 1>(), t.transpose::<1, 2>());
        assert_eq!(swapped.at([3, 1, 7]), t.at([1, 3, 7]));
        assert_eq!(batch.at([1, 7, 3]), t.at([1, 3, 7]));
        let same: Tile<i32, Shape1<8>, _> = cx.iota::<i32>(shape![8]).transpose::<0, 0>();
        assert_eq!(same.at([5]), 5);
    });
}

type Joins<T> = Kernel<(Input<T, (D<16>, D<16>)>, Input<T, (D<16>, D<16>)>, Output<T, (D<8>, D<512>)>)>;

fn check_joins<T: Value>(kernel: &Joins<T>) {
    let (x, y) = (elements::<T>(104, 256), random_values::<T>(105, 256));
    let both: Vec<T> = x.iter().chain(&y).copied().collect();
    let mut failures = Failures::new::<T>("joins");
    for device in devices() {
        let a = Tensor::from_slice(device, [16, 16], &x).unwrap();
        let b = Tensor::from_slice(device, [16, 16], &y).unwrap();
        let mut results = Tensor::poisoned(device, [8, 512]).unwrap();
        kernel.launch(device, 1, (&a, &b, &mut results)).unwrap();
        let rows: [(&str, &dyn Fn(usize) -> usize); 8] = [
            ("cat 0", &|k| k),
            ("cat 1", &|k| k % 32 / 16 * 256 + k / 32 * 16 + k % 16),
            ("stack 0", &|k| k),
            ("stack 1", &|k| k / 16 % 2 * 256 + k / 32 * 16 + k % 16),
            ("stack 2", &|k| k % 2 * 256 + k / 2),
            ("repeat 0", &|k| k / 32 * 16 + k % 16),
            ("repeat 1", &|k| k / 2),
            ("tile 1", &|k| k / 32 * 16 + k % 16),
        ];
        for ((name, source), got) in rows.iter().zip(results.to_vec().unwrap().chunks(512)) {
            failures.exact(device, name, got, |k| both[source(k)]);
        }
    }
}

#[test]
fn joins() {
    for_types!(check_joins, kernels::joins: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

/// Two tiles of one shape make one of twice the length.
#[test]
fn detail_36_cat_doubles_a_dimension() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.iota::<i32>(shape![2, 4]);
        let (long, wide): (Tile<i32, Shape2<4, 4>, _>, Tile<i32, Shape2<2, 8>, _>) =
            (t.cat::<0>(t + 100), t.cat::<1>(t + 100));
        assert_eq!((long.at([1, 3]), long.at([2, 0])), (7, 100));
        assert_eq!((wide.at([1, 3]), wide.at([1, 4])), (7, 104));
    });
}

type Cuts<T> = Kernel<(Input<T, (D<32>, D<16>)>, u32, u32, u32, Output<T, (D<10>, D<256>)>)>;

fn check_cuts<T: Value>(kernel: &Cuts<T>) {
    let x = elements::<T>(106, 512);
    let mut failures = Failures::new::<T>("cuts");
    for device in devices() {
        let a = Tensor::from_slice(device, [32, 16], &x).unwrap();
        for (start, i, j) in [(0, 0, 0), (3, 1, 0), (8, 0, 1), (5, 1, 1)] {
            let mut results = Tensor::poisoned(device, [10, 256]).unwrap();
            kernel.launch(device, 1, (&a, start, i, j, &mut results)).unwrap();
            let (start, i, j) = (start as usize, i as usize, j as usize);
            let inserted = |k: usize| {
                let (row, column) = (k / 16, k % 16);
                let inside = row / 8 == j && column / 8 == i;
                if inside { (i * 8 + row % 8) * 16 + j * 8 + column % 8 } else { k }
            };
            let rows: [(&str, &dyn Fn(usize) -> usize); 10] = [
                ("upper rows", &|k| k),
                ("lower rows", &|k| 256 + k),
                ("left columns", &|k| k / 8 * 16 + k % 8),
                ("right columns", &|k| k / 8 * 16 + 8 + k % 8),
                ("rows from 16", &|k| 256 + k),
                ("rows from 5", &|k| 80 + k),
                ("slice_at", &|k| k / 8 * 16 + start + k % 8),
                ("extract", &|k| i * 256 + k),
                ("insert, upper rows", &|k| inserted(k)),
                ("insert, lower rows", &|k| inserted(256 + k)),
            ];
            for ((name, source), got) in rows.iter().zip(results.to_vec().unwrap().chunks(256)) {
                failures.exact(device, &format!("{name} ({start}, {i}, {j})"), got, |k| x[source(k)]);
            }
        }
    }
}

#[test]
fn cuts() {
    for_types!(check_cuts, kernels::cuts: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type HighRanks<T> = Kernel<(Input<T, (D<2>, D<4>, D<8>, D<8>)>, Output<T, (D<10>, D<512>)>)>;

fn check_high_ranks<T: Value>(kernel: &HighRanks<T>) {
    let x = elements::<T>(113, 512);
    let mut failures = Failures::new::<T>("high_ranks");
    for device in devices() {
        let a = Tensor::from_slice(device, [2, 4, 8, 8], &x).unwrap();
        let mut results = Tensor::poisoned(device, [10, 512]).unwrap();
        kernel.launch(device, 1, (&a, &mut results)).unwrap();
        // Coordinates of the result's element `k` in a tile of (2, 4, 8, 8), and the element at such coordinates.
        let split = |k: usize| (k / 256, k / 64 % 4, k / 8 % 8, k % 8);
        let at = |a: usize, b: usize, c: usize, d: usize| ((a * 4 + b) * 8 + c) * 8 + d;
        let part = |k: usize| at(1, 2 + k / 32 % 2, k / 8 % 4, k % 8);
        let rows: [(&str, &dyn Fn(usize) -> usize); 10] = [
            ("split and cat", &|k| {
                let (a, b, c, d) = split(k);
                at(a, b, (c + 4) % 8, d)
            }),
            // Copies 0 0 1 1 of the matrices, of which the second and the third stay.
            ("repeat and slice", &|k| k),
            ("stack", &|k| k % 2 * 256 + k / 2),
            ("extract and tile", &|k| part(k % 64)),
            ("take", &|k| {
                let (a, b, c, d) = split(k);
                at(a, b, 7 - c, d)
            }),
            ("flip", &|k| {
                let (a, b, c, d) = split(k);
                at(a, 3 - b, c, d)
            }),
            ("roll", &|k| {
                let (a, b, c, d) = split(k);
                at(a, b, c, (d + 5) % 8)
            }),
            ("transpose", &|k| at(k / 256, k % 4, k / 4 % 8, k / 32 % 8)),
            ("roll of the vector", &|k| (k + 100) % 512),
            ("insert", &|k| {
                let (a, b, c, d) = split(k);
                if a == 0 && b < 2 && c >= 4 { part(b * 32 + (c - 4) * 8 + d) } else { k }
            }),
        ];
        for ((name, source), got) in rows.iter().zip(results.to_vec().unwrap().chunks(512)) {
            failures.exact(device, name, got, |k| x[source(k)]);
        }
    }
}

#[test]
fn high_ranks() {
    for_types!(check_high_ranks, kernels::high_ranks: u8 f16 f32 i64);
}

/// Indices of parts count parts, not elements.
#[test]
fn detail_18_extract_and_insert_count_parts() {
    cuda_tiles::cpu::block(|cx| {
        let t = cx.iota::<i32>(shape![8, 16]);
        assert_eq!(t.extract(shape![2, 4], [1, 2]).at([0, 0]), 2 * 16 + 8);
        let t = t.insert(cx.full(shape![2, 4], -1), [3, 1]);
        assert_eq!((t.at([6, 4]), t.at([7, 7]), t.at([5, 4]), t.at([6, 8])), (-1, -1, 84, 104));
    });
}

type Picks<T, I> = Kernel<(
    Input<T, (D<16>, D<16>)>,
    Input<I, (D<16>, D<16>)>,
    Input<I, (D<16>, D<16>)>,
    T,
    Output<T, (D<9>, D<256>)>,
)>;

fn check_picks<T: Value, I: Reference>(kernel: &Picks<T, I>) {
    let x = elements::<T>(107, 256);
    let mut random = Random::new(108);
    let inside: Vec<I> = (0..256).map(|_| I::narrow(random.below(16) as f64)).collect();
    // Special values first: the least, the greatest, and with sign negative ones.
    let any: Vec<I> = I::SPECIAL
        .iter()
        .copied()
        .chain(std::iter::from_fn(|| Some(I::narrow(random.below(24) as f64))))
        .take(256)
        .collect();
    let padding = T::SPECIAL[1];
    let place = |index: I| (0.0..16.0).contains(&index.wide()).then(|| index.wide() as usize);
    let mut failures = Failures::new::<(T, I)>("picks");
    for device in devices() {
        let a = Tensor::from_slice(device, [16, 16], &x).unwrap();
        let inside_tensor = Tensor::from_slice(device, [16, 16], &inside).unwrap();
        let any_tensor = Tensor::from_slice(device, [16, 16], &any).unwrap();
        let mut results = Tensor::poisoned(device, [9, 256]).unwrap();
        kernel.launch(device, 1, (&a, &inside_tensor, &any_tensor, padding, &mut results)).unwrap();
        let rows: [(&str, &dyn Fn(usize) -> Option<usize>); 9] = [
            ("take_along_axis 0", &|k| Some(place(inside[k])? * 16 + k % 16)),
            ("take_along_axis 1", &|k| Some(k / 16 * 16 + place(inside[k])?)),
            ("take_along_axis_masked 0", &|k| Some(place(any[k])? * 16 + k % 16)),
            ("take_along_axis_masked 1", &|k| Some(k / 16 * 16 + place(any[k])?)),
            ("take 0", &|k| Some(place(inside[k / 16])? * 16 + k % 16)),
            ("take 1", &|k| Some(k / 16 * 16 + place(inside[k % 16])?)),
            ("take_masked 0", &|k| Some(place(any[k / 16])? * 16 + k % 16)),
            ("take_masked 1", &|k| Some(k / 16 * 16 + place(any[k % 16])?)),
            ("diagonal", &|k| Some(k % 16 * 17)),
        ];
        for ((name, source), got) in rows.iter().zip(results.to_vec().unwrap().chunks(256)) {
            failures.exact(device, name, got, |k| source(k).map_or(padding, |k| x[k]));
        }
    }
}

#[test]
fn picks() {
    macro_rules! check {
        ($($element:ident $index:ident),*) => { $(
            check_picks::<$element, $index>(kernels::picks::<$element, $index>());
        )* };
    }
    check!(bool i8, i8 i16, i16 i32, i32 i64, i64 u8, u8 u16, f16 u32, bf16 u64, f32 i32, f64 u8);
}

type Histograms<T> =
    Kernel<(Input<T, (D<1024>,)>, Output<u32, (D<64>,)>, Output<u32, (D<2>,)>, Output<u32, (D<16384>,)>)>;

fn check_histograms<T: Reference>(kernel: &Histograms<T>) {
    let mut random = Random::new(109);
    let spread: Vec<T> = (0..1024).map(|_| T::random(&mut random)).collect();
    // All in one bin, which all threads then want.
    let same = vec![T::narrow(1.0); 1024];
    let mut failures = Failures::new::<T>("histograms");
    for (name, x) in [("random", elements::<T>(110, 1024)), ("spread", spread), ("same", same)] {
        for device in devices() {
            let a = Tensor::from_slice(device, [1024], &x).unwrap();
            let mut few = Tensor::poisoned(device, [64]).unwrap();
            let mut two = Tensor::poisoned(device, [2]).unwrap();
            let mut many = Tensor::poisoned(device, [16384]).unwrap();
            kernel.launch(device, 1, (&a, &mut few, &mut two, &mut many)).unwrap();
            let mut counts = vec![0u32; 16384];
            for value in &x {
                if let Some(count) = counts.get_mut(value.wide() as usize).filter(|_| value.wide() >= 0.0) {
                    *count += 1;
                }
            }
            for (bins, got) in [(64, few), (2, two), (16384, many)] {
                let label = format!("{name}, {bins} bins");
                failures.exact(device, &label, &got.to_vec().unwrap(), |bin| counts[bin]);
            }
        }
    }
}

#[test]
fn histograms() {
    for_types!(check_histograms, kernels::histograms: i8 i16 i32 i64 u8 u16 u32 u64);
}

type OneHots<T, U> = Kernel<(Input<T, (D<32>,)>, Output<U, (D<2>, D<512>)>)>;

fn check_one_hots<T: Reference, U: Value>(kernel: &OneHots<T, U>) {
    let x = elements::<T>(111, 32);
    let mut failures = Failures::new::<(T, U)>("one_hots");
    for device in devices() {
        let a = Tensor::from_slice(device, [32], &x).unwrap();
        let mut results = Tensor::poisoned(device, [2, 512]).unwrap();
        kernel.launch(device, 1, (&a, &mut results)).unwrap();
        let results = results.to_vec().unwrap();
        let hot = |x: T, class: usize| U::small(i8::from(x.wide() == class as f64));
        failures.exact(device, "along 1", &results[..512], |k| hot(x[k / 16], k % 16));
        failures.exact(device, "along 0", &results[512..], |k| hot(x[k % 32], k / 32));
    }
}

#[test]
fn one_hots() {
    macro_rules! check {
        ($($class:ident $element:ident),*) => { $(
            check_one_hots::<$class, $element>(kernels::one_hots::<$class, $element>());
        )* };
    }
    check!(i8 u64, i16 i8, i32 f32, i64 f16, u8 bf16, u16 i32, u32 f64, u64 u8);
}

fn check_sequences<T: Reference>(kernel: &Kernel<(T, T, Output<T, (D<4>, D<128>)>)>) {
    let mut failures = Failures::new::<T>("sequences");
    for device in devices() {
        for (start, step) in [(0, 1), (5, -3), (-2, 2)] {
            let (start, step) = (T::small(start), T::small(step));
            let mut results = Tensor::poisoned(device, [4, 128]).unwrap();
            kernel.launch(device, 1, (start, step, &mut results)).unwrap();
            let results = results.to_vec().unwrap();
            let (zero, one) = (T::small(0), T::small(1));
            let array = [start, step, step, start, start, start, one, zero];
            let rows: [(&str, &dyn Fn(usize) -> T); 4] = [
                ("arange", &|k| T::plus(start, T::times(T::narrow(k as f64), step))),
                ("eye", &|k| if k / 16 == k % 16 { one } else { zero }),
                ("tile_of", &|k| array[k % 8]),
                ("coordinates", &|k| if k % 16 <= k / 16 { start } else { step }),
            ];
            for ((name, expected), got) in rows.iter().zip(results.chunks(128)) {
                failures.exact(device, name, got, expected);
            }
        }
    }
}

#[test]
fn sequences() {
    for_types!(check_sequences, kernels::sequences: i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type ReducedMoves<T> = Kernel<(Input<T, (D<32>, D<64>)>, Output<T, (D<8>, D<64>)>)>;

fn check_reduced<T: Reference>(kernel: &ReducedMoves<T>) {
    let x: Vec<T> = random_values::<T>(112, 2048);
    let fold = |indices: &mut dyn Iterator<Item = usize>, combine: fn(T, T) -> T| {
        indices.map(|k| x[k]).reduce(combine).unwrap()
    };
    let row = |i: usize, combine| fold(&mut (0..64).map(|j| i * 64 + j), combine);
    let column = |j: usize| fold(&mut (0..32).map(|i| i * 64 + j), T::larger);
    let mut failures = Failures::new::<T>("reduced");
    for device in devices() {
        let a = Tensor::from_slice(device, [32, 64], &x).unwrap();
        let mut results = Tensor::poisoned(device, [8, 64]).unwrap();
        kernel.launch(device, 1, (&a, &mut results)).unwrap();
        let rows: [(&str, &dyn Fn(usize) -> T); 8] = [
            ("transpose", &|k| row(k % 32, T::larger)),
            ("flip", &|k| row(31 - k % 32, T::larger)),
            ("roll", &|k| row((k + 29) % 32, T::larger)),
            ("cat", &|k| row(k / 2, if k % 2 == 0 { T::larger } else { T::smaller })),
            ("split", &|k| row(16 + k / 4, T::larger)),
            ("take_along_axis", &|k| row(k % 32, if k < 32 { T::larger } else { T::smaller })),
            ("transpose of the row", &column),
            ("flip of the row", &|k| column(63 - k)),
        ];
        for ((name, expected), got) in rows.iter().zip(results.to_vec().unwrap().chunks(64)) {
            failures.exact(device, name, got, expected);
        }
    }
}

#[test]
fn results_of_reductions() {
    for_types!(check_reduced, kernels::reduced: i32 u8 f64);
}

/// Both sides of a selection are computed, and `&` evaluates both of its sides.
#[test]
fn detail_29_selection_computes_both_sides() {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    cuda_tiles::cpu::block(|cx| {
        let t = cx.iota::<i32>(shape![8]);
        let count = |x: i32| {
            CALLS.fetch_add(1, Relaxed);
            x
        };
        let chosen = t.lt(0).select(t.map(count), -t.map(count));
        let both = t.map(count).lt(0) & t.map(count).gt(0);
        assert_eq!((chosen.at([3]), both.at([3]), CALLS.load(Relaxed)), (-3, false, 32));
    });
}

/// `iota` counts in row-major order from 0 at every rank, as far as the element type does.
#[test]
fn detail_30_iota_counts_at_every_rank() {
    cuda_tiles::cpu::block(|cx| {
        assert_eq!(cx.iota::<u8>(shape![256]).at([255]), 255);
        assert_eq!(cx.iota::<i8>(shape![2, 64]).at([1, 63]), 127);
        assert_eq!(cx.iota::<i64>(shape![2, 4, 8]).at([1, 2, 3]), 51);
        assert_eq!(cx.iota::<u16>(shape![2, 2, 2, 2]).at([1, 0, 1, 1]), 11);
    });
}

/// Dimensions are powers of two, 1 included, up to 2^24; arrays have any shape.
#[test]
fn detail_31_dimensions_are_powers_of_two() {
    assert_eq!(<Shape1<16777216> as Shape>::LEN, 1 << 24);
    cuda_tiles::cpu::block(|cx| {
        let one = cx.full(shape![1, 1], 3i32);
        assert_eq!((one.item(), one.tile::<1, 4>().at([0, 3])), (3, 3));
    });
    let numbers: Vec<i32> = (0..15).collect();
    cuda_tiles::cpu::block_on(&numbers, [3, 5], |cx, span: Span<i32, (u32, u32)>| {
        let t = span.partition(cx, shape![4, 8]).load_masked(Zero, (0, 0));
        assert_eq!((t.at([2, 4]), t.at([2, 5]), t.at([3, 0])), (14, 0, 0));
    });
}

/// What a panic on the CPU says.
fn message(misuse: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let payload = std::panic::catch_unwind(misuse).expect_err("the misuse is found");
    payload.downcast_ref::<String>().expect("a message of the library").clone()
}

#[test]
fn indices_outside_are_named() {
    use cuda_tiles::cpu::block;
    let cases: [(&str, fn()); 5] = [
        ("part 2 is not below the number of parts along axis 1 of the tile, 2", || {
            block(|cx| {
                let _ = cx.zeros::<f32>(shape![4, 8]).extract(shape![2, 4], [0, 2]);
            })
        }),
        ("part 4294967295 is not below", || {
            block(|cx| {
                let t = cx.zeros::<f32>(shape![8]);
                let _ = t.insert(cx.zeros(shape![8]), [u32::MAX]);
            })
        }),
        ("the slice of 4 elements from 5 on does not lie within axis 0 of the tile, of 8", || {
            block(|cx| {
                let _ = cx.zeros::<f32>(shape![8]).slice_at::<0, 4>(5);
            })
        }),
        ("index -1 is not below dimension 0 of the tile, 8", || {
            block(|cx| {
                let _ = cx.zeros::<f32>(shape![8]).take_along_axis::<0>(cx.full(shape![2], -1i8));
            })
        }),
        ("index 8 is not below dimension 1 of the tile, 8", || {
            block(|cx| {
                let _ = cx.zeros::<f32>(shape![2, 8]).take::<1>(cx.full(shape![2], 8u64));
            })
        }),
    ];
    for (words, misuse) in cases {
        let message = message(misuse);
        assert!(message.contains(words), "`{words}` is not in: {message}");
        assert!(message.contains("movement.rs"), "the line is not in: {message}");
    }
}
