//! Tiles at steps and at elements, and rows that start anywhere in memory.

use crate::devices::devices;
use crate::failures::Failures;
use crate::reference::Reference;
use crate::test_values::{Value, for_types, random_values};
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles::shape::{OfRank, Rank};
use cuda_tiles::span::{Extents, Mapping, ReadOnly};
use cuda_tiles_host::{Device, Grid, Launch, Tensor, TensorView};
use cuda_tiles_test_kernels::{views, windows as kernels};

type Copy2<T> = Kernel<(Span<T, (u32, u32)>, SpanMut<T, (u32, u32)>)>;

/// Copies matrices whose rows are no multiples of vectors, which start `from` and `to` elements into their memory.
fn check_ragged<T: Value>(kernel: &Copy2<T>, tile: [usize; 2]) {
    let mut failures = Failures::new::<T>(kernel.description().name);
    let shapes = [[3, 1], [2, 3], [5, 63], [3, 127], [2, 255], [3, 511], [2, 1023], [3, 1030], [4, 64]];
    for device in devices() {
        for shape @ [rows, columns] in shapes {
            let n = rows * columns;
            for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 7)] {
                let x = random_values::<T>(101, n + from);
                let before = random_values::<T>(102, n + to + 9);
                let operand = Tensor::from_slice(device, [n + from], &x).unwrap();
                let mut results = Tensor::from_slice(device, [n + to + 9], &before).unwrap();
                let source: TensorView<'_, T, 2> = operand.view().strided(from, shape, [columns, 1]).unwrap();
                let target = results.view_mut().strided(to, shape, [columns, 1]).unwrap();
                kernel.launch(device, Grid::cover(shape, tile), (source, target)).unwrap();
                let label = format!("copy of {shape:?} from {from} to {to}");
                failures.exact(device, &label, &results.to_vec().unwrap(), |i| {
                    if (to..n + to).contains(&i) { x[i - to + from] } else { before[i] }
                });
            }
        }
    }
}

#[test]
fn ragged_rows() {
    macro_rules! check {
        ($($kernel:ident $tile:expr, $($type:ident)*;)*) => { $($( check_ragged(kernels::$kernel::<$type>(), $tile); )*)* };
    }
    check! {
        ragged_by_2 [2, 128], u8 f16 i32 f64;
        ragged_by_4 [1, 1024], bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64;
        ragged_by_8 [4, 64], u8 f16 f32 f64;
        ragged_by_16 [1, 256], i8 bf16 u32 i64;
    }
}

fn check_in_place<T: Reference>(kernel: &Kernel<(SpanMut<T, (u32, u32)>,)>) {
    let mut failures = Failures::new::<T>("ragged_in_place");
    for device in devices() {
        for shape @ [rows, columns] in [[2, 1], [4, 65], [6, 200], [2, 641]] {
            let x = random_values::<T>(103, rows * columns);
            let mut y = Tensor::from_slice(device, shape, &x).unwrap();
            kernel.launch(device, rows as u32 / 2, (&mut y,)).unwrap();
            failures
                .exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| T::plus(x[i], T::small(1)));
        }
    }
}

#[test]
fn ragged_rows_in_place() {
    for_types!(check_in_place, kernels::ragged_in_place: u8 f16 f32 f64);
}

type StridedLoads<T> =
    Kernel<(Span<T, (u32, u32)>, SpanMut<T, (D<3>, u32, u32)>, SpanMut<u32, (u32, u32, D<8>)>)>;

fn check_strided_loads<T: Value>(kernel: &StridedLoads<T>) {
    let mut failures = Failures::new::<T>("strided_loads");
    let steps = [[3, 2], [4, 8], [5, 16]];
    for device in devices() {
        for shape @ [rows, columns] in [[1, 1], [9, 37], [12, 64], [20, 50]] {
            let x = random_values::<T>(104, rows * columns);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let [down, across] = [rows.div_ceil(3) + 1, columns.div_ceil(2) + 1];
            let mut y = Tensor::poisoned(device, [3, down * 4, across * 8]).unwrap();
            let mut spaces = Tensor::poisoned(device, [down, across, 8]).unwrap();
            let grid = (down as u32, across as u32);
            kernel.launch(device, grid, (&operand, &mut y, &mut spaces)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
                let [step, step_across] = steps[i / (down * across * 32)];
                let (row, column) = (i / (across * 8) % (down * 4), i % (across * 8));
                let (row, column) = (row / 4 * step + row % 4, column / 8 * step_across + column % 8);
                if row < rows && column < columns { x[row * columns + column] } else { T::small(0) }
            });
            let tiles = steps.map(|[down, across]| [rows.div_ceil(down), columns.div_ceil(across)]).concat();
            for found in spaces.to_vec().unwrap().chunks(8) {
                assert_eq!(found[..6], *tiles.iter().map(|&n| n as u32).collect::<Vec<_>>());
                assert_eq!(found[6..], [tiles[1] as u32, 1]);
            }
        }
    }
}

#[test]
fn strided_loads_overlap_meet_and_leave_gaps() {
    for_types!(check_strided_loads, kernels::strided_loads: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

fn check_strided_stores<T: Reference>(kernel: &Kernel<(SpanMut<T, (u32, u32, u32)>,)>) {
    let mut failures = Failures::new::<T>("strided_stores");
    for device in devices() {
        for shape @ [layers, rows, columns] in [[1, 1, 1], [3, 5, 17], [4, 2, 40]] {
            let before = random_values::<T>(105, layers * rows * columns);
            let mut y = Tensor::from_slice(device, shape, &before).unwrap();
            kernel.launch(device, Grid::cover(shape, [2, 2, 6]), (&mut y,)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
                let (layer, column) = (i / columns / rows, i % columns);
                if layer % 2 < 1 && column % 6 < 4 { T::small(2) } else { before[i] }
            });
        }
    }
}

#[test]
fn strided_stores_leave_gaps_alone() {
    for_types!(check_strided_stores, kernels::strided_stores: u8 i16 f32 i64);
}

type Unowned<T> = Kernel<(Span<i32, (u32,)>, SpanMut<T, (u32,)>, SpanMut<T, (u32,)>, SpanMut<T, (u32,)>)>;

fn check_unowned<T: Reference>(kernel: &Unowned<T>) {
    let mut failures = Failures::new::<T>("unowned");
    let firsts = [150, -5, 260, 59];
    for device in devices() {
        for n in [0, 1, 63, 64, 230, 300] {
            let before = random_values::<T>(108, n);
            let first = Tensor::from_slice(device, [4], &firsts).unwrap();
            let [mut side_by_side, mut at_steps, mut anywhere] =
                [(); 3].map(|()| Tensor::from_slice(device, [n], &before).unwrap());
            kernel.launch(device, 4, (&first, &mut side_by_side, &mut at_steps, &mut anywhere)).unwrap();
            let within = |i: usize| firsts.iter().any(|&first| (first..first + 64).contains(&(i as i32)));
            let all: [(&str, Tensor<T, 1>, &dyn Fn(usize) -> bool); 3] = [
                ("side by side", side_by_side, &|i| i < 256),
                ("at steps", at_steps, &|i| i % 80 < 64 && i < 320),
                ("anywhere", anywhere, &within),
            ];
            for (way, got, stored) in all {
                failures.exact(device, &format!("{n} elements {way}"), &got.to_vec().unwrap(), |i| {
                    if stored(i) { T::plus(before[i], T::small(1)) } else { before[i] }
                });
            }
        }
    }
}

#[test]
fn tiles_that_are_not_the_blocks_own() {
    for_types!(check_unowned, kernels::unowned: u8 f16 f32 i64);
}

/// The element `(i, j)` of a matrix, or `padding` outside.
fn padded<T: Copy>(x: &[T], [rows, columns]: [usize; 2], i: i64, j: i64, padding: T) -> T {
    let inside = (0..rows as i64).contains(&i) && (0..columns as i64).contains(&j);
    if inside { x[i as usize * columns + j as usize] } else { padding }
}

fn check_windows<T: Value>(kernel: &Copy2<T>) {
    let mut failures = Failures::new::<T>("windows");
    for device in devices() {
        for shape @ [rows, columns] in [[1, 1], [3, 5], [10, 53], [16, 64], [9, 160]] {
            let x = random_values::<T>(106, rows * columns);
            let operand = Tensor::from_slice(device, shape, &x).unwrap();
            let grid = [rows.div_ceil(4) + 3, columns.div_ceil(16) + 3];
            let mut y = Tensor::poisoned(device, [grid[0] * 4, grid[1] * 16]).unwrap();
            kernel.launch(device, (grid[0] as u32, grid[1] as u32), (&operand, &mut y)).unwrap();
            failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
                let width = grid[1] * 16;
                let (row, column) = ((i / width) as i64 - 6, (i % width) as i64 - 21);
                padded(&x, shape, row, column, T::small(0))
            });
        }
    }
}

#[test]
fn windows_hang_over_every_edge() {
    for_types!(check_windows, kernels::windows: bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64);
}

type WindowsOf<E, M> = Kernel<(TensorSpan<f16, E, ReadOnly, M>, SpanMut<f16, (u32, u32)>)>;

fn check_windows_of<E, M>(kernel: &WindowsOf<E, M>, shape: [usize; 2], strides: [usize; 2])
where
    E: Extents + OfRank<Rank<2>>,
    M: Mapping,
{
    let mut failures = Failures::new::<(E, M)>("windows_of_spans");
    let [rows, columns] = shape;
    let memory = (rows - 1) * strides[0] + (columns - 1) * strides[1] + 1;
    let x = random_values::<f16>(107, memory);
    for device in devices() {
        let operand = Tensor::from_slice(device, [memory], &x).unwrap();
        let view: TensorView<'_, f16, 2> = operand.view().strided(0, shape, strides).unwrap();
        let grid = [rows.div_ceil(8) + 2, columns.div_ceil(32) + 2];
        let mut y = Tensor::poisoned(device, [grid[0] * 8, grid[1] * 32]).unwrap();
        kernel.launch(device, (grid[0] as u32, grid[1] as u32), (view, &mut y)).unwrap();
        failures.exact(device, &format!("{shape:?}"), &y.to_vec().unwrap(), |i| {
            let width = grid[1] * 32;
            let (row, column) = ((i / width) as i64 - 5, (i % width) as i64 - 24);
            let inside = (0..rows as i64).contains(&row) && (0..columns as i64).contains(&column);
            if inside {
                x[row as usize * strides[0] + column as usize * strides[1]]
            } else {
                f16::from_f32(-0.0)
            }
        });
    }
}

#[test]
fn windows_of_every_kind_of_span() {
    check_windows_of(kernels::windows_of_spans::<(u64, u64), Right>(), [19, 77], [77, 1]);
    check_windows_of(kernels::windows_of_spans::<(u32, D<48>), Right>(), [19, 48], [48, 1]);
    check_windows_of(kernels::windows_of_spans::<(u32, Mult<u32, 8>), Right>(), [19, 72], [72, 1]);
    check_windows_of(kernels::windows_of_spans::<(u32, u32), Pitched<4>>(), [19, 77], [84, 1]);
    check_windows_of(kernels::windows_of_spans::<(u32, u32), Left>(), [19, 77], [1, 19]);
    check_windows_of(kernels::windows_of_spans::<(u32, u32), Strided>(), [19, 77], [2, 50]);
}

#[test]
fn stencil_of_three_points() {
    let mut failures = Failures::new::<f32>("three_points");
    for device in devices() {
        for n in [1, 2, 511, 512, 513, 3000] {
            let x: Vec<f32> = (0..n).map(|i| (i * i % 1000) as f32).collect();
            let operand = Tensor::from_slice(device, [n], &x).unwrap();
            let mut y = Tensor::poisoned(device, [n]).unwrap();
            kernels::three_points.launch(device, Grid::cover([n], [512]), (&operand, &mut y)).unwrap();
            let at = |i: usize| i.checked_sub(1).and_then(|i| x.get(i)).copied().unwrap_or(0.0);
            failures.exact(device, &format!("{n} elements"), &y.to_vec().unwrap(), |i| {
                at(i) + at(i + 1) + at(i + 2)
            });
        }
    }
}

#[test]
fn windows_inside_and_atomic_windows() {
    for device in devices() {
        let x = Tensor::from_vec(device, [8, 20], (0..160).collect::<Vec<i32>>()).unwrap();
        let mut y = Tensor::from_slice(device, [5, 9], &[-1; 45]).unwrap();
        kernels::window_inside.launch(device, 1, (&x, &mut y, 1, 3)).unwrap();
        let expected: Vec<i32> = (0..45)
            .map(|i| match (i / 9, i % 9) {
                (row @ (0 | 1), column @ 0..8) => (1 + row) * 20 + 3 + column,
                (row @ (2 | 3), column @ 0..8) => (row - 1) * 20 + 3 + column,
                _ => -1,
            })
            .collect();
        assert_eq!(y.to_vec().unwrap(), expected);
    }
    let x = Tensor::from_vec(&Device::cpu(), [8, 20], (0..160).collect::<Vec<i32>>()).unwrap();
    let mut y = Tensor::zeros(&Device::cpu(), [5, 9]).unwrap();
    for (row, column) in [(-1, 0), (0, 13), (7, 0)] {
        let error = kernels::window_inside.launch(&Device::cpu(), 1, (&x, &mut y, row, column)).unwrap_err();
        let expected =
            format!("load of window [{row}, {column}] reaches outside the tensor: windows of [2, 8] in");
        assert!(error.to_string().contains(&expected), "{error}");
    }
}

fn check_count<T: Reference>(kernel: &Kernel<(SpanMut<T, ()>,)>) {
    let mut failures = Failures::new::<T>("count_one");
    for device in devices() {
        let mut y = Tensor::from_slice(device, [], &[T::small(41)]).unwrap();
        kernel.launch(device, 1, (&mut y,)).unwrap();
        failures.exact(device, "rank 0", &y.to_vec().unwrap(), |_| T::small(42));
    }
    let mut y = Tensor::from_slice(&Device::cpu(), [], &[T::small(41)]).unwrap();
    let error = kernel.launch(&Device::cpu(), 2, (&mut y,)).unwrap_err().to_string();
    assert!(error.contains("blocks share the element of a writable tensor of rank 0"), "{error}");
}

#[test]
fn rank_0_is_stored_by_one_block() {
    for_types!(check_count, kernels::count_one: i8 f16 i32 f64);
}

/// Details 1.18: the documented examples, by views at steps and at elements.
#[test]
fn worked_examples_at_steps() {
    for device in devices() {
        let x = Tensor::from_vec(device, [4, 8], (0..32).collect::<Vec<i32>>()).unwrap();
        let z = Tensor::from_vec(device, [4, 11], (0..44).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        let mut loaded = Tensor::poisoned(device, [4, 8]).unwrap();
        let mut padded = Tensor::zeros(device, [4, 16]).unwrap();
        let mut y = Tensor::from_slice(device, [4, 8], &[-7; 32]).unwrap();
        let arguments = (&x, &z, &mut loaded, &mut padded, &mut y);
        kernels::worked_examples_at_steps.launch(device, (2, 4), arguments).unwrap();
        let tile = loaded.view().slice(0, 2..4).unwrap().slice(1, 4..6).unwrap();
        assert_eq!(tile.to_vec().unwrap(), [20, 21, 28, 29]);
        let tile = padded.view().slice(0, 0..2).unwrap().slice(1, 8..12).unwrap().to_vec().unwrap();
        assert_eq!([&tile[..3], &tile[4..7]].concat(), [8.0, 9.0, 10.0, 19.0, 20.0, 21.0]);
        assert!(tile[3].is_nan() && tile[7].is_nan());
        let mut expected = [-7; 32];
        (expected[22], expected[23], expected[30], expected[31]) = (0, 100, 200, 300);
        assert_eq!(y.to_vec().unwrap(), expected);
    }
}

/// Detail 17: a tile that lies wholly outside is undefined behaviour for the peers; here masked loads pad it, masked stores
/// leave it out, and plain ones fail.
#[test]
fn detail_17_tiles_wholly_outside() {
    let x: Vec<i32> = (1..11).collect();
    for device in devices() {
        let operand = Tensor::from_slice(device, [10], &x).unwrap();
        let mut y = Tensor::poisoned(device, [192]).unwrap();
        views::padding::<i32>().launch(device, 3, (&operand, &mut y)).unwrap();
        let expected: Vec<i32> = (0..192).map(|i| x.get(i).copied().unwrap_or(0)).collect();
        assert_eq!(y.to_vec().unwrap(), expected);
        let mut y = Tensor::from_slice(device, [12], &[-1; 12]).unwrap();
        let target = y.view_mut().slice(0, 0..10).unwrap();
        views::copy_by_4::<i32>().launch(device, 4, (&operand, target)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1, -1]);
    }
}

/// Detail 18: indices of partition and strided views count tiles, those of window views elements.
#[test]
fn detail_18_tile_indices_and_element_indices() {
    let numbers: Vec<i32> = (0..32).collect();
    cuda_tiles::cpu::block_on(&numbers, [32], |cx, span: Span<i32, (u32,)>| {
        assert_eq!(span.partition(cx, shape![4]).load(3).at([0]), 12);
        assert_eq!(span.strided(cx, shape![4], steps![3]).load(3).at([0]), 9);
        assert_eq!(span.window(cx, shape![4]).load(3).at([0]), 3);
    });
}

/// Detail 32: indices of any integer type; negative ones are out of bounds, never counted from the end.
#[test]
fn detail_32_index_types() {
    let mut failures = Failures::new::<i32>("index_types");
    for device in devices() {
        let x = random_values::<i32>(108, 70);
        let operand = Tensor::from_slice(device, [70], &x).unwrap();
        let mut y = Tensor::poisoned(device, [1, 10, 32]).unwrap();
        kernels::index_types.launch(device, 1, (&operand, &mut y)).unwrap();
        failures.exact(
            device,
            "tiles",
            &y.to_vec().unwrap(),
            |i| if i < 6 * 32 { 0 } else { x[32 + i % 32] },
        );
    }
}

/// Detail 54: a partial tile is an error without a mask, and with one its padding is named.
#[test]
fn detail_54_partial_tiles_fail_or_name_their_padding() {
    let numbers: Vec<f32> = (0..10).map(|x| x as f32).collect();
    cuda_tiles::cpu::block_on(&numbers, [10], |cx, span: Span<f32, (u32,)>| {
        let view = span.partition(cx, shape![8]);
        let tile = view.load_masked(NegativeInfinity, 1);
        assert_eq!((tile.at([1]), tile.at([2])), (9.0, f32::NEG_INFINITY));
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| view.load(1).at([0])));
        let message = refused.unwrap_err().downcast::<String>().unwrap();
        assert!(message.starts_with("load of tile [1] reaches outside the tensor"), "{message}");
    });
}
