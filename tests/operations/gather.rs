//! Gathered tiles: rows by their numbers, along every axis, inside and outside the tensor.

use crate::devices::devices;
use crate::failures::Failures;
use crate::test_values::{Random, Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{OfRank, Rank};
use cuda_tiles::span::{Exclusive, Extents, Mapping, ReadOnly};
use cuda_tiles_host::{Device, Launch, Tensor, TensorView, TensorViewMut};
use cuda_tiles_test_kernels::gather as kernels;
use cuda_tiles_test_kernels::{Input, Output};

/// Row `rows[k]` and column `start + j` of a matrix of `shape`, if it has them.
fn at(shape: [usize; 2], row: i64, column: i64) -> Option<usize> {
    let inside = (0..shape[0] as i64).contains(&row) && (0..shape[1] as i64).contains(&column);
    inside.then(|| row as usize * shape[1] + column as usize)
}

type Embedding<T, I> =
    Kernel<(Input<T, (u32, D<1024>)>, Input<I, (Mult<u32, 4>,)>, Output<T, (Mult<u32, 4>, D<1024>)>)>;

fn check_embedding<T: Value, I: Value + TryFrom<u64>>(kernel: &Embedding<T, I>) {
    const ROWS: u64 = 117;
    let mut random = Random::new(221);
    let numbers: Vec<u64> = (0..64).map(|_| random.below(ROWS)).collect();
    let rows: Vec<I> = numbers.iter().map(|&x| I::try_from(x).ok().expect("it fits")).collect();
    let x = random_values::<T>(222, ROWS as usize * 1024);
    let mut failures = Failures::new::<(T, I)>("embedding");
    for device in devices() {
        let table = Tensor::from_slice(device, [ROWS as usize, 1024], &x).unwrap();
        let rows = Tensor::from_slice(device, [64], &rows).unwrap();
        let mut results = Tensor::poisoned(device, [64, 1024]).unwrap();
        kernel.launch(device, 16, (&table, &rows, &mut results)).unwrap();
        failures.exact(device, "rows", &results.to_vec().unwrap(), |i| {
            x[numbers[i / 1024] as usize * 1024 + i % 1024]
        });
    }
}

#[test]
fn rows_of_a_table() {
    check_embedding(kernels::embedding::<u8, i32>());
    check_embedding(kernels::embedding::<f16, i32>());
    check_embedding(kernels::embedding::<f32, u64>());
    check_embedding(kernels::embedding::<f64, i16>());
}

type GatherRows<T> = Kernel<(
    i32,
    Span<i32, (u32,)>,
    Span<i64, (u32,)>,
    Span<T, (u32, u32)>,
    SpanAtomic<T, (u32, u32)>,
    SpanMut<T, (u32, u32)>,
    SpanMut<T, (D<4>, D<8>, D<16>)>,
)>;

/// Indices before, in and behind the tensor; rows differ, columns repeat.
fn check_rows<T: Value>(kernel: &GatherRows<T>) {
    let rows = [3, -1, 12, 0, i32::MIN, 7, 13, i32::MAX];
    let columns: Vec<i64> =
        (0..16).map(|k| [5, 5, -1, 20, 36, 37, i64::MIN, 1 << 32, 0, i64::MAX][k % 10]).collect();
    let mut failures = Failures::new::<T>("gather_rows");
    for device in devices() {
        for shape in [[13, 37], [16, 64], [1, 3], [0, 16]] {
            let near = if shape == [13, 37] { -17..38 } else { -1..2 };
            for start in near.chain([-8, 30, i32::MAX, i32::MIN]) {
                let x = random_values::<T>(223, shape[0] * shape[1]);
                let before = random_values::<T>(224, shape[0] * shape[1]);
                let operand = Tensor::from_slice(device, shape, &x).unwrap();
                let mut shared = Tensor::from_slice(device, shape, &x).unwrap();
                let mut stored = Tensor::from_slice(device, shape, &before).unwrap();
                let mut results = Tensor::poisoned(device, [4, 8, 16]).unwrap();
                let row_numbers = Tensor::from_slice(device, [8], &rows).unwrap();
                let column_numbers = Tensor::from_slice(device, [16], &columns).unwrap();
                let arguments =
                    (start, &row_numbers, &column_numbers, &operand, &mut shared, &mut stored, &mut results);
                kernel.launch(device, 1, arguments).unwrap();
                let from = |k: usize| i64::from(start) + k as i64;
                let label = |what: &str| format!("{what} of {shape:?} from {start}");
                failures.exact(device, &label("slices"), &results.to_vec().unwrap(), |i| {
                    let (k, i, j) = (i / 128, i / 16 % 8, i % 16);
                    let place = if k % 2 == 0 {
                        at(shape, i64::from(rows[i]), from(j))
                    } else {
                        at(shape, from(i), columns[j])
                    };
                    place.map_or(T::small(0), |place| x[place])
                });
                let mut expected = before;
                for &row in &rows {
                    for place in (0..16).filter_map(|j| at(shape, i64::from(row), from(j))) {
                        expected[place] = x[place];
                    }
                }
                failures.exact(device, &label("stores"), &stored.to_vec().unwrap(), |i| expected[i]);
                failures.exact(device, &label("atomic stores"), &shared.to_vec().unwrap(), |i| x[i]);
            }
        }
    }
}

#[test]
fn detail_32_slices_before_and_behind_the_tensor_are_padding() {
    for_types!(check_rows, kernels::gather_rows: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type WholeRows<T> = Kernel<(
    u32,
    Span<u16, (u32,)>,
    Span<T, (u32, u32)>,
    SpanMut<T, (u32, u32)>,
    SpanMut<T, (u32, u32)>,
    SpanAtomic<T, (u32, u32)>,
)>;

/// Vectors are aligned for some of the starts and lengths only.
fn check_whole<T: Value>(kernel: &WholeRows<T>) {
    let rows: Vec<u16> = (0..12).map(|k| k * 5 % 12).collect();
    let mut failures = Failures::new::<T>("whole_rows");
    for device in devices() {
        for (columns, start) in [(64, 0), (64, 16), (64, 3), (67, 0), (67, 35)] {
            let x = random_values::<T>(225, 12 * columns);
            let operand = Tensor::from_slice(device, [12, columns], &x).unwrap();
            let rows = Tensor::from_slice(device, [12], &rows).unwrap();
            let before = random_values::<T>(226, 12 * columns);
            let [mut checked, mut unchecked, mut shared] =
                [(); 3].map(|()| Tensor::from_slice(device, [12, columns], &before).unwrap());
            let arguments = (start as u32, &rows, &operand, &mut checked, &mut unchecked, &mut shared);
            kernel.launch(device, 3, arguments).unwrap();
            for (way, got) in [("checked", checked), ("unchecked", unchecked), ("atomic", shared)] {
                failures.exact(
                    device,
                    &format!("{way} from {start} of {columns}"),
                    &got.to_vec().unwrap(),
                    |i| {
                        if (start..start + 32).contains(&(i % columns)) { x[i] } else { before[i] }
                    },
                );
            }
        }
    }
}

#[test]
fn whole_slices_checked_unchecked_and_atomic() {
    for_types!(check_whole, kernels::whole_rows: u8 f16 i32 f64);
}

type Rank3<T> = Kernel<(i32, Span<T, (u32, u32, u32)>, SpanMut<T, (D<3>, D<64>)>)>;

/// The place in a row-major tensor of `shape`, if it has one.
fn place<const R: usize>(shape: [usize; R], index: [i64; R]) -> Option<usize> {
    let mut flat = 0;
    for (length, index) in shape.into_iter().zip(index) {
        flat = flat * length + usize::try_from(index).ok().filter(|&index| index < length)?;
    }
    Some(flat)
}

fn check_rank_3<T: Value>(kernel: &Rank3<T>) {
    let mut failures = Failures::new::<T>("gather_rank_3");
    for device in devices() {
        for (shape, step) in [([7, 9, 11], 1), ([7, 9, 11], 2), ([2, 4, 8], 1), ([1, 1, 1], 1)] {
            let x = random_values::<T>(227, shape.iter().product());
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut results = Tensor::poisoned(device, [3, 64]).unwrap();
            kernel.launch(device, 1, (step, &operand, &mut results)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &results.to_vec().unwrap(), |i| {
                let mut index = [i / 32 % 2, i / 8 % 4, i % 8].map(|k| k as i64 + 1);
                let axis = i / 64;
                index[axis] = (index[axis] - 1) * i64::from(step) - 1;
                place(shape, index).map_or(T::small(0), |place| x[place])
            });
        }
    }
}

type Rank4<T> = Kernel<(i32, Span<T, (u32, u32, u32, u32)>, SpanMut<T, (D<4>, D<512>)>)>;

fn check_rank_4<T: Value>(kernel: &Rank4<T>) {
    let mut failures = Failures::new::<T>("gather_rank_4");
    for device in devices() {
        for (shape, step) in [([3, 7, 9, 13], 1), ([5, 6, 11, 10], 2), ([1, 1, 1, 1], 1)] {
            let x = random_values::<T>(228, shape.iter().product());
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut results = Tensor::poisoned(device, [4, 512]).unwrap();
            kernel.launch(device, 1, (step, &operand, &mut results)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &results.to_vec().unwrap(), |i| {
                let mut index = [i / 256 % 2, i / 64 % 4, i / 8 % 8, i % 8].map(|k| k as i64 + 1);
                let axis = i / 512;
                index[axis] = (index[axis] - 1) * i64::from(step) - 1;
                place(shape, index).map_or(T::small(0), |place| x[place])
            });
        }
    }
}

#[test]
fn along_every_axis() {
    for_types!(check_rank_3, kernels::gather_rank_3: u8 f32 i64);
    for_types!(check_rank_4, kernels::gather_rank_4: u8 f32 i64);
}

type IndexTypes<I> = Kernel<(Span<I, (D<32>,)>, Span<f32, (u32, D<4>)>, SpanMut<f32, (D<2>, D<32>, D<4>)>)>;

/// Special values of the index type first: an index is the number that it is, not that number modulo 2^32.
fn check_index_type<I: Value + TryInto<u64>>(kernel: &IndexTypes<I>) {
    let rows: Vec<I> = I::SPECIAL.iter().copied().chain(random_values(229, 32)).take(32).collect();
    let x = random_values::<f32>(230, 100 * 4);
    let mut failures = Failures::new::<I>("index_types");
    for device in devices() {
        let operand = Tensor::from_slice(device, [100, 4], &x).unwrap();
        let numbers = Tensor::from_slice(device, [32], &rows).unwrap();
        let mut results = Tensor::poisoned(device, [2, 32, 4]).unwrap();
        kernel.launch(device, 1, (&numbers, &operand, &mut results)).unwrap();
        failures.exact(device, "rows", &results.to_vec().unwrap(), |i| {
            let row = rows[i / 4 % 32].try_into().ok().filter(|&row| row < 100);
            row.map_or(f32::NAN, |row| x[row as usize * 4 + i % 4])
        });
    }
}

#[test]
fn detail_32_index_tiles_of_every_integer_type() {
    for_types!(check_index_type, kernels::index_types: i8 i16 i32 i64 u8 u16 u32 u64);
}

type Mapped<E, M> =
    Kernel<(u32, Span<i32, (u32,)>, TensorSpan<f16, E, ReadOnly, M>, TensorSpan<f16, E, Exclusive, M>)>;

fn check_mapped<E, M>(kernel: &Mapped<E, M>, shape: [usize; 2], offset: usize, strides: [usize; 2])
where
    E: Extents + OfRank<Rank<2>>,
    M: Mapping,
{
    let rows = [5, 36, -1, 37, 2, 0, 9, 35];
    let mut failures = Failures::new::<(E, M)>("gather_mapped");
    let memory = offset + (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + 1;
    let (x, before) = (random_values::<f16>(231, memory), random_values::<f16>(232, memory));
    for device in devices() {
        for start in [0, 8, 5, 24, 47] {
            let run = |device: &Device| {
                let rows = Tensor::from_slice(device, [8], &rows).unwrap();
                let operand = Tensor::from_slice(device, [memory], &x).unwrap();
                let mut results = Tensor::from_slice(device, [memory], &before).unwrap();
                let source: TensorView<'_, f16, 2> = operand.view().strided(offset, shape, strides).unwrap();
                let target: TensorViewMut<'_, f16, 2> =
                    results.view_mut().strided(offset, shape, strides).unwrap();
                kernel.launch(device, 1, (start, &rows, source, target)).unwrap();
                results.to_vec().unwrap()
            };
            let mut expected = before.clone();
            for &row in rows.iter().filter(|row| (0..shape[0] as i32).contains(row)) {
                for j in start as usize..shape[1].min(start as usize + 32) {
                    let place = offset + row as usize * strides[0] + j * strides[1];
                    expected[place] = x[place];
                }
            }
            failures.exact(device, &format!("rows from {start}"), &run(device), |i| expected[i]);
        }
    }
}

#[test]
fn every_mapping_and_extent() {
    let whole = [37, 48];
    check_mapped(kernels::gather_mapped::<(u32, u32), Right>(), whole, 0, [48, 1]);
    check_mapped(kernels::gather_mapped::<(u32, u32), Right>(), [37, 51], 1, [51, 1]);
    check_mapped(kernels::gather_mapped::<(u32, u32), Left>(), whole, 0, [1, 37]);
    check_mapped(kernels::gather_mapped::<(u32, u32), Pitched>(), whole, 8, [56, 1]);
    check_mapped(kernels::gather_mapped::<(u32, u32), Pitched>(), whole, 3, [53, 1]);
    check_mapped(kernels::gather_mapped::<(u32, u32), Strided>(), whole, 3, [2, 80]);
    check_mapped(kernels::gather_mapped::<(u64, u64), Right>(), whole, 0, [48, 1]);
    check_mapped(kernels::gather_mapped::<(u32, Mult<u32, 8>), Right>(), whole, 0, [48, 1]);
    check_mapped(kernels::gather_mapped::<(u32, Mult<u32, 8>), Pitched>(), whole, 8, [56, 1]);
    check_mapped(kernels::gather_mapped::<(D<37>, D<48>), Right>(), whole, 1, [48, 1]);
}

/// cuTile's documentation: `[[2, 3, 4, 5], [10, 11, 12, 13], [18, 19, 20, 21], [26, 27, 28, 29]]`.
#[test]
fn documented_example() {
    let mut failures = Failures::new::<i32>("documented_example");
    for device in devices() {
        let x = Tensor::from_vec(device, [4, 8], (0..32).collect()).unwrap();
        let mut results = Tensor::poisoned(device, [4, 4]).unwrap();
        kernels::documented_example.launch(device, 1, (&x, &mut results)).unwrap();
        failures.exact(device, "rows", &results.to_vec().unwrap(), |i| {
            [2, 3, 4, 5, 10, 11, 12, 13, 18, 19, 20, 21, 26, 27, 28, 29][i]
        });
    }
}
