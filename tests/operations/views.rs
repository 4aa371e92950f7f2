//! Loads and stores through views: lengths, paddings, mappings, extents, alignment, ranks.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{OfRank, Rank};
use cuda_tiles::span::{Exclusive, Extents, Mapping, ReadOnly};
use cuda_tiles_host::{Device, Grid, Launch, Tensor, TensorView, TensorViewMut};
use cuda_tiles_test_kernels::views as kernels;

/// Lengths around the sizes of vectors and tiles.
const LENGTHS: [usize; 16] = [0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1000, 1029];

type Copy1<T> = Kernel<(Span<T, (u32,)>, SpanMut<T, (u32,)>)>;

/// Copies a part of a tensor to a part of another, which start `offset` elements into their tensors: aligned, and for
/// odd offsets not.
fn check_copy<T: Value>(kernel: &Copy1<T>, tile: usize) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    for device in devices() {
        for n in LENGTHS {
            for (from, to) in [(0, 0), (1, 0), (0, 1), (3, 5)] {
                let x = random_values::<T>(81, n + from);
                let operand = Tensor::from_slice(device, [n + from], &x).unwrap();
                let before = random_values::<T>(82, n + to + 9);
                let mut results = Tensor::from_slice(device, [n + to + 9], &before).unwrap();
                let source = operand.view().slice(0, from..n + from).unwrap();
                let target = results.view_mut().slice(0, to..n + to).unwrap();
                kernel.launch(device, Grid::cover([n], [tile]), (source, target)).unwrap();
                let label = format!("copy of {n} from {from} to {to}");
                failures.exact(device, &label, &results.to_vec().unwrap(), |i| {
                    if (to..n + to).contains(&i) { x[i - to + from] } else { before[i] }
                });
            }
        }
    }
}

#[test]
fn masked_copies_of_any_length_and_alignment() {
    macro_rules! check {
        ($($kernel:ident $tile:literal: $($type:ident)*;)*) => { $($( check_copy(kernels::$kernel::<$type>(), $tile); )*)* };
    }
    check! {
        copy_by_1 128: u8 f16 i32 f64;
        copy_by_2 256: u8 bf16 f32 i64;
        copy_by_4 64: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64;
        copy_by_8 512: i8 u16 u32 u64;
        copy_by_16 32: bool i16 f32 f64;
    }
}

type CopyWhole<T> = Kernel<(Span<T, (u32, u32)>, SpanMut<T, (u32, u32)>, SpanMut<T, (u32, u32)>)>;

fn check_copy_whole<T: Value>(kernel: &CopyWhole<T>) {
    let mut failures = Failures::new::<T>("copy_whole");
    for device in devices() {
        for shape in [[4, 16], [12, 80]] {
            let x = random_values::<T>(83, shape[0] * shape[1]);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut checked = Tensor::poisoned(device, shape).unwrap();
            let mut unchecked = Tensor::poisoned(device, shape).unwrap();
            kernel.launch(device, shape[0] as u32 / 4, (&operand, &mut checked, &mut unchecked)).unwrap();
            failures.exact(device, "checked", &checked.to_vec().unwrap(), |i| x[i]);
            failures.exact(device, "unchecked", &unchecked.to_vec().unwrap(), |i| x[i]);
        }
    }
}

#[test]
fn whole_tiles_checked_and_unchecked() {
    for_types!(check_copy_whole, kernels::copy_whole: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

/// Where a matrix lies: offset of the first element, strides, and elements of the memory around it.
struct Place {
    offset: usize,
    strides: [usize; 2],
    memory: usize,
}

/// A place for each mapping.
trait Placed: Mapping {
    fn place(rows: usize, columns: usize) -> Place;
}

impl Placed for Right {
    fn place(rows: usize, columns: usize) -> Place {
        Place { offset: 0, strides: [columns, 1], memory: rows * columns }
    }
}

impl Placed for Left {
    fn place(rows: usize, columns: usize) -> Place {
        Place { offset: 0, strides: [1, rows], memory: rows * columns }
    }
}

impl Placed for Pitched {
    fn place(rows: usize, columns: usize) -> Place {
        Place { offset: 16, strides: [columns + 5, 1], memory: 16 + rows * (columns + 5) }
    }
}

impl Placed for Strided {
    fn place(rows: usize, columns: usize) -> Place {
        Place { offset: 3, strides: [2 * columns * 3, 2], memory: 3 + rows * columns * 6 }
    }
}

type CopyMapped<T, M, O> =
    Kernel<(TensorSpan<T, (u32, u32), ReadOnly, M>, TensorSpan<T, (u32, u32), Exclusive, O>)>;

fn check_mapped<T: Value, M: Placed, O: Placed>(kernel: &CopyMapped<T, M, O>) {
    let mut failures = Failures::new::<(T, M, O)>("copy_mapped");
    for device in devices() {
        for shape @ [rows, columns] in [[8, 16], [1, 1], [13, 37], [24, 64]] {
            let (from, to) = (M::place(rows, columns), O::place(rows, columns));
            let x = random_values::<T>(84, from.memory);
            let before = random_values::<T>(85, to.memory);
            let operand = Tensor::from_slice(device, [from.memory], &x).unwrap();
            let mut results = Tensor::from_slice(device, [to.memory], &before).unwrap();
            let source: TensorView<'_, T, 2> =
                operand.view().strided(from.offset, shape, from.strides).unwrap();
            let target: TensorViewMut<'_, T, 2> =
                results.view_mut().strided(to.offset, shape, to.strides).unwrap();
            kernel.launch(device, Grid::cover(shape, [8, 16]), (source, target)).unwrap();
            let mut expected = before;
            for i in 0..rows {
                for j in 0..columns {
                    expected[to.offset + i * to.strides[0] + j * to.strides[1]] =
                        x[from.offset + i * from.strides[0] + j * from.strides[1]];
                }
            }
            failures
                .exact(device, &format!("copy of {shape:?}"), &results.to_vec().unwrap(), |i| expected[i]);
        }
    }
}

#[test]
fn every_mapping_to_every_mapping() {
    macro_rules! check {
        ($($type:ident: $($from:ident to $to:ident),*;)*) => { $($(
            check_mapped(kernels::copy_mapped::<$type, $from, $to>());
        )*)* };
    }
    check! {
        i32: Right to Right, Right to Left, Right to Pitched, Right to Strided;
        i32: Left to Right, Left to Left, Left to Pitched, Left to Strided;
        i32: Pitched to Right, Pitched to Left, Pitched to Pitched, Pitched to Strided;
        i32: Strided to Right, Strided to Left, Strided to Pitched, Strided to Strided;
        u8: Pitched to Pitched;
        f16: Left to Pitched;
        f64: Strided to Right;
    }
}

type CopyExtents<E> = Kernel<(Span<f16, E>, SpanMut<f16, E>, SpanMut<u64, (D<2>, u32, u32)>)>;

fn check_extents<E>(kernel: &CopyExtents<E>)
where
    E: Extents + OfRank<Rank<2>>,
{
    let mut failures = Failures::new::<E>("copy_extents");
    let shape = [37, 48];
    let x = random_values::<f16>(86, 37 * 48);
    for device in devices() {
        let operand = Tensor::from_slice(device, shape, &x).unwrap();
        let mut results = Tensor::poisoned(device, shape).unwrap();
        let mut counts = Tensor::poisoned(device, [2, 10, 2]).unwrap();
        kernel.launch(device, (10, 2), (&operand, &mut results, &mut counts)).unwrap();
        failures.exact(device, "copy", &results.to_vec().unwrap(), |i| x[i]);
        failures.exact(device, "num_tiles", &counts.to_vec().unwrap(), |i| if i < 20 { 10 } else { 2 });
    }
}

#[test]
fn every_extent_type() {
    check_extents(kernels::copy_extents::<(u32, u32)>());
    check_extents(kernels::copy_extents::<(u64, u64)>());
    check_extents(kernels::copy_extents::<(u32, u64)>());
    check_extents(kernels::copy_extents::<(D<37>, u32)>());
    check_extents(kernels::copy_extents::<(u32, D<48>)>());
    check_extents(kernels::copy_extents::<(D<37>, D<48>)>());
    check_extents(kernels::copy_extents::<(u32, Mult<u32, 8>)>());
    check_extents(kernels::copy_extents::<(u64, Mult<u64, 16>)>());
    check_extents(kernels::copy_extents::<(Mult<u32, 37>, Mult<u32, 2>)>());
}

type CopyAligned<T> = Kernel<(Span<T, (u32,)>, SpanMut<T, (u32,), Right, Aligned<16>>)>;

fn check_aligned<T: Value>(kernel: &CopyAligned<T>) {
    let mut failures = Failures::new::<T>("copy_aligned");
    for device in devices() {
        for n in LENGTHS {
            let x = random_values::<T>(87, n);
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut results = Tensor::poisoned(device, [n]).unwrap();
            kernel.launch(device, Grid::cover([n], [256]), (&operand, &mut results)).unwrap();
            failures.exact(device, &format!("copy of {n}"), &results.to_vec().unwrap(), |i| x[i]);
        }
    }
}

#[test]
fn promised_alignment() {
    for_types!(check_aligned, kernels::copy_aligned: u8 f16 f32 f64);
}

fn check_rank_0<T: Value>(kernel: &Kernel<(Span<T, ()>, SpanMut<T, (u32,)>)>) {
    let mut failures = Failures::new::<T>("spread_rank_0");
    for device in devices() {
        let x = T::SPECIAL[1];
        let operand = Tensor::from_slice(device, [], &[x]).unwrap();
        let mut results = Tensor::poisoned(device, [77]).unwrap();
        kernel.launch(device, 3, (&operand, &mut results)).unwrap();
        failures.exact(device, "store", &results.to_vec().unwrap(), |_| x);
    }
}

fn check_rank_3<T: Value>(kernel: &Kernel<(Span<T, (u32, u32, u32)>, SpanMut<T, (u32, u32, u32)>)>) {
    let mut failures = Failures::new::<T>("copy_rank_3");
    for device in devices() {
        for shape in [[2, 4, 8], [3, 5, 9], [1, 1, 1], [5, 8, 17]] {
            let x = random_values::<T>(88, shape.iter().product());
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut results = Tensor::poisoned(device, shape).unwrap();
            kernel.launch(device, Grid::cover(shape, [2, 4, 8]), (&operand, &mut results)).unwrap();
            failures.exact(device, &format!("copy of {shape:?}"), &results.to_vec().unwrap(), |i| x[i]);
        }
    }
}

type Copy4<T> = Kernel<(Span<T, (u32, u32, u32, u32)>, SpanMut<T, (u32, u32, u32, u32)>)>;

fn check_rank_4<T: Value>(kernel: &Copy4<T>) {
    let mut failures = Failures::new::<T>("copy_rank_4");
    for device in devices() {
        for shape in [[1, 2, 4, 16], [2, 3, 5, 17], [3, 1, 9, 32]] {
            let x = random_values::<T>(89, shape.iter().product());
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let mut results = Tensor::poisoned(device, shape).unwrap();
            let grid = Grid::cover([shape[0], shape[1]], [1, 2]);
            kernel.launch(device, grid, (&operand, &mut results)).unwrap();
            failures.exact(device, &format!("copy of {shape:?}"), &results.to_vec().unwrap(), |i| x[i]);
        }
    }
}

#[test]
fn every_rank() {
    for_types!(check_rank_0, kernels::spread_rank_0: bool f16 i32 f64);
    for_types!(check_rank_3, kernels::copy_rank_3: u8 f32 i64);
    for_types!(check_rank_4, kernels::copy_rank_4: u8 f32 i64);
    for device in devices() {
        let x = Tensor::from_slice(device, [1], &[41]).unwrap();
        let mut y = Tensor::poisoned(device, [1]).unwrap();
        kernels::copy_rank_1_to_0.launch(device, 1, (&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [42]);
    }
}

fn check_paddings<T: Reference + Float>(kernel: &Kernel<(Span<T, (u32,)>, SpanMut<T, (D<5>, u32)>)>) {
    let mut failures = Failures::new::<T>("paddings");
    let paddings = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(T::narrow);
    for device in devices() {
        for n in LENGTHS {
            let x = random_values::<T>(90, n);
            let tiles = n.div_ceil(64) + 1;
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut results = Tensor::full(device, [5, tiles * 64], T::ONE).unwrap();
            kernel.launch(device, tiles as u32, (&operand, &mut results)).unwrap();
            for (k, got) in results.to_vec().unwrap().chunks(tiles * 64).enumerate() {
                let label = format!("{n} elements padded with {:?}", paddings[k]);
                failures.exact(device, &label, got, |i| x.get(i).copied().unwrap_or(paddings[k]));
            }
        }
    }
}

fn check_padding<T: Value>(kernel: &Copy1<T>) {
    let mut failures = Failures::new::<T>("padding");
    for device in devices() {
        for n in LENGTHS {
            let x = random_values::<T>(91, n);
            let tiles = n.div_ceil(64) + 1;
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut results = Tensor::poisoned(device, [tiles * 64]).unwrap();
            kernel.launch(device, tiles as u32, (&operand, &mut results)).unwrap();
            failures.exact(device, &format!("{n} elements padded with 0"), &results.to_vec().unwrap(), |i| {
                x.get(i).copied().unwrap_or(T::small(0))
            });
        }
    }
}

#[test]
fn every_padding() {
    for_types!(check_paddings, kernels::paddings: f16 bf16 f32 f64);
    for_types!(check_padding, kernels::padding: bool i8 i16 i32 i64 u8 u16 u32 u64);
}

#[test]
fn loads_see_the_blocks_own_stores() {
    let mut failures = Failures::new::<i32>("load_after_store");
    for device in devices() {
        for rows in [16, 37, 160] {
            let x = random_values::<i32>(92, rows * 64);
            let mut y = Tensor::from_slice(device, [rows, 64], &x).unwrap();
            let mut scratch = Tensor::poisoned(device, [rows, 64]).unwrap();
            kernels::load_after_store
                .launch(device, Grid::cover([rows], [16]), (&mut y, &mut scratch))
                .unwrap();
            failures.exact(device, &format!("{rows} rows"), &y.to_vec().unwrap(), |i| {
                let double = |i: usize| i32::times(x[i], 2);
                (i / 64 * 64..i / 64 * 64 + 64).map(double).fold(double(i), i32::plus)
            });
        }
    }
}

#[test]
fn few_blocks_take_many_tiles() {
    let mut failures = Failures::new::<i32>("persistent");
    for device in devices() {
        for (n, blocks) in [(1000, 3), (1000, 1), (31, 7), (64, 2), (33_000, 100)] {
            let x = random_values::<i32>(93, n);
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut results = Tensor::poisoned(device, [n]).unwrap();
            kernels::persistent.launch(device, blocks, (&operand, &mut results)).unwrap();
            let label = format!("{n} elements by {blocks} blocks");
            failures.exact(device, &label, &results.to_vec().unwrap(), |i| i32::plus(x[i], 1));
        }
    }
}

/// The examples of CUDA Tile C++'s page on partition views, by their numbers.
fn check_worked_examples(device: &Device) {
    let x = Tensor::from_vec(device, [4, 8], (0..32).collect::<Vec<i32>>()).unwrap();
    let z = Tensor::from_vec(device, [4, 11], (0..44).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let mut loaded = Tensor::poisoned(device, [4, 8]).unwrap();
    let mut padded = Tensor::zeros(device, [4, 16]).unwrap();
    let mut y = Tensor::from_slice(device, [4, 8], &[-7; 32]).unwrap();
    kernels::worked_examples.launch(device, (2, 4), (&x, &z, &mut loaded, &mut padded, &mut y)).unwrap();

    // Tile (1, 2) of the 4 x 8 tensor in tiles of 2 x 2.
    let tile = loaded.view().slice(0, 2..4).unwrap().slice(1, 4..6).unwrap();
    assert_eq!(tile.to_vec().unwrap(), [20, 21, 28, 29]);
    // Tile (0, 2) of the 4 x 11 tensor in tiles of 2 x 4, padded with NaN.
    let tile = padded.view().slice(0, 0..2).unwrap().slice(1, 8..12).unwrap().to_vec().unwrap();
    assert_eq!([&tile[..3], &tile[4..7]].concat(), [8.0, 9.0, 10.0, 19.0, 20.0, 21.0]);
    assert!(tile[3].is_nan() && tile[7].is_nan());
    // 100 times 0, 1, 2, 3 stored as tile (1, 3).
    let mut expected = [-7; 32];
    (expected[22], expected[23], expected[30], expected[31]) = (0, 100, 200, 300);
    assert_eq!(y.to_vec().unwrap(), expected);
}

#[test]
fn worked_examples() {
    devices().iter().for_each(check_worked_examples);
}

/// Offsets beyond 32 bits, on the GPU; `tests/launch.rs` has the same for the CPU, where such a tensor takes a while.
#[test]
fn more_than_32_bits_of_elements() {
    const LENGTH: usize = (1 << 32) + 1000;
    for device in devices().iter().filter(|device| device.is_gpu()) {
        let mut x = Tensor::<u8, 1>::zeros(device, [LENGTH]).unwrap();
        kernels::mark_last_tile.launch(device, Grid::cover([LENGTH], [4096]), (&mut x,)).unwrap();
        let end = x.view().slice(0, LENGTH - 1001..LENGTH).unwrap().to_vec().unwrap();
        assert!(end[0] == 0 && end[1..].iter().all(|&byte| byte == 7), "the last, partial tile is stored");
        let start = x.view().slice(0, 0..4096).unwrap().to_vec().unwrap();
        assert!(start.iter().all(|&byte| byte == 0), "no address wrapped around at 32 bits");
    }
}
