//! Elements by their indices and by pointers.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Grid, Launch, Tensor};
use cuda_tiles_test_kernels::elements as kernels;

type GatherScatter<T> = Kernel<(
    T,
    Span<i32, (u32,)>,
    Span<i32, (u32,)>,
    Span<T, (u32, u32)>,
    SpanMut<T, (u32, u32)>,
    SpanAtomic<T, (u32, u32)>,
    SpanMut<T, (D<7>, D<16>, D<8>)>,
)>;

/// Rows and columns differ, so that each element is stored once.
fn check_gather_scatter<T: Value>(kernel: &GatherScatter<T>, convert: fn(i32) -> T) {
    let i = [4, -1, 0, 12, 13, 1, i32::MIN, 7, 6, i32::MAX, 11, -3, 5, 3, 99, 2];
    let j = [36, 0, -1, 37, 3, i32::MIN, 17, 9];
    let padding = T::SPECIAL[1];
    let mut failures = Failures::new::<T>("gather_scatter");
    for device in devices() {
        for shape @ [rows, columns] in [[13, 37], [1, 1], [100, 64], [0, 5]] {
            let x = random_values::<T>(241, rows * columns);
            let before = random_values::<T>(242, rows * columns);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let row_numbers = Tensor::from_slice(device, [16], &i).unwrap();
            let column_numbers = Tensor::from_slice(device, [8], &j).unwrap();
            let [mut stored, mut shared] =
                [(); 2].map(|()| Tensor::from_slice(device, shape, &before).unwrap());
            let mut results = Tensor::poisoned(device, [7, 16, 8]).unwrap();
            let arguments =
                (padding, &row_numbers, &column_numbers, &operand, &mut stored, &mut shared, &mut results);
            kernel.launch(device, 1, arguments).unwrap();
            let at = |i: i32, j: i32| {
                let (i, j) = (usize::try_from(i).ok()?, usize::try_from(j).ok()?);
                (i < rows && j < columns).then_some(i * columns + j)
            };
            let mut expected = before.clone();
            for &i in &i {
                for place in j.iter().filter_map(|&j| at(i, j)) {
                    expected[place] = x[place];
                }
            }
            let mut padded = expected.clone();
            for &i in i.iter().filter(|&&i| i % 2 != 0) {
                for place in j.iter().filter_map(|&j| at(i, j)) {
                    padded[place] = padding;
                }
            }
            let label = |what| format!("{what} in {shape:?}");
            failures.exact(device, &label("gather"), &results.to_vec().unwrap(), |k| {
                let (k, i, j) = (k / 128, i[k / 8 % 16], j[k % 8]);
                let zero = T::small(0);
                let there = |place: usize| x[place];
                match k {
                    0 => at(i, j).map_or(zero, there),
                    1 => at(i, j).filter(|_| i % 2 == 0).map_or(padding, there),
                    2 => at(i, j).filter(|_| j > 2).map_or(convert(j), there),
                    3 => at(1, j).map_or(zero, there),
                    4 => at(1, j).map_or(zero, |place| expected[place]),
                    5 => at(i, j).map_or(padding, there),
                    _ => at(1, j).filter(|_| j % 2 != 0).map_or(padding, |place| expected[place]),
                }
            });
            failures.exact(device, &label("scatter"), &stored.to_vec().unwrap(), |k| padded[k]);
            failures.exact(device, &label("atomic scatter"), &shared.to_vec().unwrap(), |k| padded[k]);
        }
    }
}

#[test]
fn detail_19_masked_and_outside_elements_are_padding_zero_by_default() {
    macro_rules! check {
        ($($type:ident |$x:ident| $convert:expr;)*) => { $(
            check_gather_scatter::<$type>(kernels::gather_scatter::<$type>(), |$x| $convert);
        )* };
    }
    check! {
        bool |x| x != 0;
        i8 |x| x as i8;
        i16 |x| x as i16;
        i32 |x| x;
        i64 |x| i64::from(x);
        u8 |x| x as u8;
        u16 |x| x as u16;
        u32 |x| x as u32;
        u64 |x| x as u64;
        f16 |x| Reference::narrow(f64::from(x));
        bf16 |x| Reference::narrow(f64::from(x));
        f32 |x| x as f32;
        f64 |x| f64::from(x);
    }
}

type Reverse<T> = Kernel<(
    T,
    Span<T, (u32,)>,
    SpanMut<T, (u32,)>,
    SpanMut<T, (u32,)>,
    SpanAtomic<T, (u32,)>,
    SpanMut<i64, (D<3>, u32)>,
)>;

fn check_reverse<T: Value>(kernel: &Reverse<T>) {
    let mut failures = Failures::new::<T>("reverse");
    for device in devices() {
        for n in [1, 63, 64, 65, 1000] {
            let x = random_values::<T>(243, n);
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let [mut indexed, mut pointed, mut shared] =
                [(); 3].map(|()| Tensor::poisoned(device, [n]).unwrap());
            let mut order = Tensor::poisoned(device, [3, n]).unwrap();
            let arguments = (T::SPECIAL[1], &operand, &mut indexed, &mut pointed, &mut shared, &mut order);
            kernel.launch(device, Grid::cover([n], [64]), arguments).unwrap();
            for (way, got) in [("indices", indexed), ("pointers", pointed), ("atomic", shared)] {
                failures.exact(device, &format!("{n} by {way}"), &got.to_vec().unwrap(), |i| x[n - 1 - i]);
            }
            failures.verify(device, "how pointers compare", &order.to_vec().unwrap(), |i, got| {
                let distance = (n - 1 - i % n) as i64;
                let wanted = match i / n {
                    0 => distance,
                    1 => i64::from(distance == 0),
                    _ => i64::from(distance > 0),
                };
                (got != wanted).then(|| format!("{wanted}"))
            });
        }
    }
}

#[test]
fn vectors_reversed_by_indices_and_pointers() {
    for_types!(check_reverse, kernels::reverse: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type Ranks<T> = Kernel<(
    i32,
    Span<T, (u32, u32, u32)>,
    Span<T, (u32, u32, u32, u32)>,
    SpanMut<T, (D<3>, D<4>, D<2>, D<8>)>,
)>;

/// The place in a row-major tensor of `shape`, if it has one.
fn place<const R: usize>(shape: [usize; R], index: [i64; R]) -> Option<usize> {
    let mut flat = 0;
    for (length, index) in shape.into_iter().zip(index) {
        flat = flat * length + usize::try_from(index).ok().filter(|&index| index < length)?;
    }
    Some(flat)
}

fn check_ranks<T: Value>(kernel: &Ranks<T>) {
    let mut failures = Failures::new::<T>("gather_ranks");
    for device in devices() {
        for (three, four, step) in [([5, 2, 7], [9, 3, 2, 6], 1), ([9, 1, 9], [4, 9, 9, 9], 3)] {
            let x = random_values::<T>(244, three.iter().product());
            let y = random_values::<T>(245, four.iter().product());
            let first = Tensor::from_slice(device, three, &x).unwrap();
            let second = Tensor::from_slice(device, four, &y).unwrap();
            let mut results = Tensor::poisoned(device, [3, 4, 2, 8]).unwrap();
            kernel.launch(device, 1, (step, &first, &second, &mut results)).unwrap();
            failures.exact(device, "elements", &results.to_vec().unwrap(), |i| {
                let [a, b, c] = [i / 16 % 4, i / 8 % 2, i % 8].map(|k| k as i64);
                let a = a * i64::from(step) - 1;
                match i / 64 {
                    0 => place(three, [a, b, c]).map(|place| x[place]),
                    1 => place(four, [a, 2, b, c]).map(|place| y[place]),
                    _ => place(four, [c, b, a, c]).map(|place| y[place]),
                }
                .unwrap_or(T::small(0))
            });
        }
    }
}

#[test]
fn indices_broadcast_together() {
    for_types!(check_ranks, kernels::gather_ranks: u16 f32 i64);
}
