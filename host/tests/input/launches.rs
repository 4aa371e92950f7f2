//! Launches on random grids with random views: the right result, or an error value, and never a write to what is not the
//! kernel's.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Error, Grid, Launch, Tensor, TensorView, TensorViewMut};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};

use crate::cases;

/// `y += 2 x + 1` by tiles of 4 x 8.
#[kernel(grid = 2)]
fn update(cx: Cx, x: Span<i32, (u32, u32), Strided>, y: SpanMut<i32, (u32, u64), Strided>) {
    let (x, y) = (x.partition(cx, shape![4, 8]), y.partition(cx, shape![4, 8]));
    let index = (cx.bid::<0>(), cx.bid::<1>());
    y.store_masked(y.load_masked(Zero, index) + x.load_masked(Zero, index) * 2 + 1, index);
}

/// `y[i] = x[i - shift]`, with nothing beyond either end.
#[kernel]
fn shift(cx: Cx, x: Span<i32, (u32,), Strided>, y: SpanMut<i32, (u32,), Strided>, by: i64) {
    let (x, y) = (x.window(cx, shape![16]), y.partition(cx, shape![16]));
    let i = cx.bid::<0>();
    y.store_masked(x.load_masked(Zero, i.start(16).saturating_sub(by)), i);
}

/// Copies whole tiles of 16 elements; a partial one is a failed check.
#[kernel]
fn copy(cx: Cx, x: Span<i32, (u32,)>, y: SpanMut<i32, (Mult<u32, 2>,)>) {
    let (x, y) = (x.partition(cx, shape![16]), y.partition(cx, shape![16]));
    let i = cx.bid::<0>();
    y.store(x.load(i), i);
}

/// A view of a tensor of 8 x 12 elements.
#[derive(Debug, Clone)]
struct Part {
    rows: (usize, usize),
    columns: (usize, usize),
    transposed: bool,
}

fn part() -> impl Strategy<Value = Part> {
    let range = |end: usize| (0..=end, 0..=end).prop_map(|(a, b)| (a.min(b), a.max(b)));
    (range(8), range(12), any::<bool>()).prop_map(|(rows, columns, transposed)| Part {
        rows,
        columns,
        transposed,
    })
}

impl Part {
    fn of<'t>(&self, tensor: &'t Tensor<i32, 2>) -> TensorView<'t, i32, 2> {
        let view = tensor.view().slice(0, self.rows.0..self.rows.1).unwrap();
        let view = view.slice(1, self.columns.0..self.columns.1).unwrap();
        if self.transposed { view.transpose() } else { view }
    }

    fn of_mut<'t>(&self, tensor: &'t mut Tensor<i32, 2>) -> TensorViewMut<'t, i32, 2> {
        let view = tensor.view_mut().slice(0, self.rows.0..self.rows.1).unwrap();
        let view = view.slice(1, self.columns.0..self.columns.1).unwrap();
        if self.transposed { view.transpose() } else { view }
    }

    fn shape(&self) -> [usize; 2] {
        let shape = [self.rows.1 - self.rows.0, self.columns.1 - self.columns.0];
        if self.transposed { [shape[1], shape[0]] } else { shape }
    }

    /// Where element (i, j) lies in the tensor.
    fn position(&self, i: usize, j: usize) -> usize {
        let (i, j) = if self.transposed { (j, i) } else { (i, j) };
        (self.rows.0 + i) * 12 + self.columns.0 + j
    }
}

fn tensor(first: i32) -> (Tensor<i32, 2>, Vec<i32>) {
    let values: Vec<i32> = (first..first + 96).collect();
    (Tensor::from_slice(&Device::cpu(), [8, 12], &values).unwrap(), values)
}

/// A number of blocks: few, as others take long; or one that no launch takes.
fn blocks() -> impl Strategy<Value = i64> {
    let large = prop::sample::select(vec![1 << 31, 1 << 32, (1 << 32) + 1, i64::MAX]);
    prop_oneof![8 => 0_i64..5, 1 => large, 1 => i64::from(i32::MIN)..0]
}

/// The grid of these numbers of blocks, each in a type that can hold it.
fn grid(x: i64, y: i64, z: i32) -> Grid {
    match (i32::try_from(x), i32::try_from(y)) {
        (Ok(x), Ok(y)) => Grid::from((x, y, z)),
        (Ok(x), Err(_)) => Grid::from((x, y as u64, z)),
        (Err(_), Ok(y)) => Grid::from((x as usize, y, z)),
        (Err(_), Err(_)) => Grid::from((x as u64, y as usize, z)),
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_grid_and_any_views(from in part(), to in part(), x_blocks in 0_u32..5, y_blocks in 0_usize..5) {
        let ((x, x_values), (mut y, mut y_values)) = (tensor(100), tensor(1000));
        let launched =
            update.launch(&Device::cpu(), (x_blocks, y_blocks), (from.of(&x), to.of_mut(&mut y)));
        prop_assert!(launched.is_ok(), "{:?}", launched);
        let ([rows, columns], [from_rows, from_columns]) = (to.shape(), from.shape());
        for i in 0..rows.min(4 * x_blocks as usize) {
            for j in 0..columns.min(8 * y_blocks) {
                let inside = i < from_rows && j < from_columns;
                let read = if inside { x_values[from.position(i, j)] } else { 0 };
                y_values[to.position(i, j)] += 2 * read + 1;
            }
        }
        prop_assert_eq!(y.to_vec().unwrap(), y_values);
        prop_assert_eq!(x.to_vec().unwrap(), x_values);
    }

    #[test]
    fn any_number_of_blocks(x_blocks in blocks(), y_blocks in blocks(), z_blocks in 0_i32..3) {
        let (x, (mut y, before)) = (tensor(0).0, tensor(0));
        let grid = grid(x_blocks, y_blocks, z_blocks);
        prop_assert_eq!(grid.blocks(), [x_blocks, y_blocks, z_blocks.into()].map(|blocks| blocks.max(0) as u64));
        let refused = !(0..5).contains(&x_blocks) || !(0..5).contains(&y_blocks) || z_blocks != 1;
        let launched = update.launch(&Device::cpu(), grid, (&x, &mut y));
        match launched {
            Err(Error::Grid { .. }) => {
                prop_assert!(refused);
                prop_assert_eq!(y.to_vec().unwrap(), before);
            }
            other => prop_assert!(other.is_ok() && !refused, "{:?}", other),
        }
    }

    #[test]
    fn any_shift(
        length in 0_usize..70,
        to in 0_usize..70,
        stride in 1_usize..4,
        by in prop_oneof![4 => -80_i64..80, 1 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX)],
    ) {
        let device = Device::cpu();
        let values: Vec<i32> = (1..=length as i32).collect();
        let x = Tensor::from_slice(&device, [length], &values).unwrap();
        let mut y = Tensor::full(&device, [to * stride], -7).unwrap();
        let view = y.view_mut().strided(0, [to], [stride]).unwrap();
        shift.launch(&device, Grid::cover([to], [16]), (&x, view, by)).unwrap();
        let mut expected = vec![-7; to * stride];
        for i in 0..to {
            let from = i as i128 - i128::from(by);
            // A saturated start is as far outside as the exact one.
            let inside = (0..length as i128).contains(&from);
            expected[i * stride] = if inside { values[from as usize] } else { 0 };
        }
        prop_assert_eq!(y.to_vec().unwrap(), expected);
    }

    #[test]
    fn any_lengths_and_alignments(from in 0_usize..70, to in 0_usize..70, first in 0_usize..5, blocks in 0_usize..6) {
        let device = Device::cpu();
        let x = Tensor::from_vec(&device, [from + first], (0..(from + first) as i32).collect()).unwrap();
        let mut y = Tensor::full(&device, [to + first], -7).unwrap();
        let parts = (x.view().slice(0, first..from + first).unwrap(), y.view_mut().slice(0, first..to + first).unwrap());
        let launched = copy.launch(&device, blocks, parts);
        let whole = 16 * blocks <= from.min(to);
        match launched {
            Ok(()) => {
                prop_assert!(whole && to % 2 == 0);
                let mut expected = vec![-7; to + first];
                let copied: Vec<i32> = (first..first + 16 * blocks).map(|i| i as i32).collect();
                expected[first..first + copied.len()].copy_from_slice(&copied);
                prop_assert_eq!(y.to_vec().unwrap(), expected);
            }
            Err(Error::Argument { position: 2, .. }) => prop_assert!(to % 2 == 1),
            Err(Error::Panicked { message, .. }) => {
                prop_assert!(!whole && message.contains("reaches outside"), "{}", message);
                prop_assert!(y.to_vec().unwrap()[..first].iter().all(|&element| element == -7));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
