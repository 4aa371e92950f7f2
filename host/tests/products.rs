//! Pipelined matrix products on the CPU, with unusual operands, outputs and sequences of calls. Results are right, or an error says
//! what to do and the kernel stores nothing wrong.

use cuda_tiles::prelude::*;
use cuda_tiles_host::{Device, Launch, Result, Tensor, TensorView, TensorViewMut};

/// `y = a b'` in tiles of 16 by 8 and by 16.
#[kernel(threads = 32, producer = 32)]
fn product(
    roles: WarpRoles,
    a: TmaLoad<f16, Shape2<16, 16>>,
    b: TmaLoad<f16, Shape2<8, 16>>,
    y: TmaStore<f32, Shape2<16, 8>>,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<16, 16>>, SharedTile<f16, Shape2<8, 16>>), 3>,
) {
    let steps = a.tile_counts().1;
    let loads = roles
        .tile_indices(RowMajor, y.tile_counts())
        .flat_map(move |[batch, i, j]| a.row_of(batch, i).zip(b.row_of(batch, j)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor) {
            let mut acc = cx.zero_accumulator::<f32>(shape![16, 8]);
            consumer.k_loop(steps).for_each(|(a, b)| acc.mma(a, b.transposed()));
            tile.store_directly(acc.finish());
        }
    });
}

/// Small whole numbers, whose sums of products are exact.
fn whole(seed: usize, count: usize) -> Vec<f16> {
    (0..count).map(|i| f16::from_f32(((i * 7 + seed) * 31 % 13) as f32 - 6.0)).collect()
}

fn tensor(seed: usize, shape: [usize; 3]) -> Tensor<f16, 3> {
    let mut tensor = Tensor::padded(&Device::cpu(), shape).unwrap();
    tensor.copy_from_slice(&whole(seed, shape.iter().product())).unwrap();
    tensor
}

/// `a b'` for each matrix.
fn expected(a: &TensorView<'_, f16, 3>, b: &TensorView<'_, f16, 3>) -> Vec<f32> {
    let ([batches, rows, depth], columns) = (a.shape(), b.shape()[1]);
    let (a, b) = (a.to_vec().unwrap(), b.to_vec().unwrap());
    let mut sums = Vec::new();
    for at in 0..batches * rows * columns {
        let (batch, i, j) = (at / (rows * columns), at / columns % rows, at % columns);
        let (a, b) =
            (&a[(batch * rows + i) * depth..][..depth], &b[(batch * columns + j) * depth..][..depth]);
        sums.push(a.iter().zip(b).map(|(a, b)| a.to_f32() * b.to_f32()).sum());
    }
    sums
}

/// Demands the product of all rows of `a` and `b` in `y`, and what was there before beside `y`, in a tensor of poison.
fn check(
    a: TensorView<'_, f16, 3>,
    b: TensorView<'_, f16, 3>,
    room: [usize; 3],
    first: [usize; 2],
    blocks: u32,
) {
    let ([batches, rows, depth], columns) = (a.shape(), b.shape()[1]);
    let what =
        format!("{batches} x {rows} x {depth} x {columns} from {first:?} on in {room:?}, {blocks} blocks");
    let mut y = Tensor::<f32, 3>::full(&Device::cpu(), room, -0.5).unwrap();
    let [down, right] = first;
    let part = |y: &mut Tensor<f32, 3>, launch: &mut dyn FnMut(TensorViewMut<'_, f32, 3>)| {
        launch(y.view_mut().slice(1, down..down + rows).unwrap().slice(2, right..right + columns).unwrap());
    };
    let mut sums = expected(&a, &b).into_iter();
    part(&mut y, &mut |y| product.launch(&Device::cpu(), blocks, (a, b, y)).unwrap());
    for (at, found) in y.to_vec().unwrap().into_iter().enumerate() {
        let (i, j) = (at / room[2] % room[1], at % room[2]);
        let inside = (down..down + rows).contains(&i) && (right..right + columns).contains(&j);
        let wanted = if inside { sums.next().unwrap() } else { -0.5 };
        assert_eq!(found, wanted, "{what}: row {i}, column {j}");
    }
    assert_eq!(sums.next(), None, "{what}");
}

#[test]
fn sizes_from_nothing_on() {
    for [batches, rows, depth, columns] in [
        [1, 1, 1, 1],
        [1, 16, 16, 8],
        [1, 17, 33, 9],
        [2, 5, 7, 3],
        [3, 40, 16, 20],
        // Sums of nothing are zero.
        [1, 3, 0, 5],
        [2, 33, 0, 17],
        // No sums.
        [0, 3, 4, 5],
        [1, 0, 4, 5],
        [1, 3, 4, 0],
        [1, 0, 0, 0],
    ] {
        let (a, b) = (tensor(1, [batches, rows, depth]), tensor(2, [batches, columns, depth]));
        for blocks in [1, 2, 7] {
            check(a.view(), b.view(), [batches, rows, columns], [0, 0], blocks);
        }
    }
}

#[test]
fn outputs_may_begin_and_end_anywhere() {
    let (a, b) = (tensor(3, [2, 19, 20]), tensor(4, [2, 11, 20]));
    for (room, first) in
        [([2, 19, 11], [0, 0]), ([2, 25, 13], [5, 1]), ([2, 19, 16], [0, 3]), ([2, 20, 16], [1, 4])]
    {
        check(a.view(), b.view(), room, first, 3);
    }
}

#[test]
fn parts_of_tensors_are_streamed() {
    let (a, b) = (tensor(5, [4, 50, 40]), tensor(6, [4, 30, 64]));
    // Elements beyond the views, in the same rows, are not read.
    let a = a.view().slice(0, 1..3).unwrap().slice(1, 7..40).unwrap().slice(2, 8..33).unwrap();
    let b = b.view().slice(0, 2..4).unwrap().slice(1, 3..20).unwrap().slice(2, 16..41).unwrap();
    check(a, b, [2, 33, 17], [0, 0], 2);
}

#[test]
fn tensors_whose_rows_cannot_be_streamed_are_refused() {
    let device = Device::cpu();
    let good = tensor(7, [2, 6, 24]);
    let launch = |a: TensorView<'_, f16, 3>| -> Result<()> {
        let mut y = Tensor::<f32, 3>::full(&device, [2, 6, 6], -0.5).unwrap();
        let result = product.launch(&device, 1, (a, &good, &mut y));
        assert!(result.is_ok() || y.to_vec().unwrap() == [-0.5; 72], "a refused launch stores nothing");
        result
    };
    let ragged = Tensor::<f16, 3>::zeros(&device, [2, 6, 23]).unwrap();
    let wide = Tensor::<f16, 3>::zeros(&device, [2, 6, 48]).unwrap();
    let tall = Tensor::<f16, 3>::zeros(&device, [2, 24, 6]).unwrap();
    for (view, text) in [
        (ragged.view(), "its row pitch is 46 bytes: pad the rows, for example with `Tensor::padded`"),
        (
            wide.view().slice(2, 3..27).unwrap(),
            "starts 6 bytes behind one: cut views at columns that are multiples of 8",
        ),
        (
            tall.view().permute([0, 2, 1]).unwrap(),
            "here the rows are: pass the transposed matrix (`view.transpose()`)",
        ),
        (
            wide.view().strided(0, [2, 6, 24], [288, 48, 2]).unwrap(),
            "here they are 2 elements apart: copy it first",
        ),
    ] {
        assert!(!view.is_streamable());
        let told = launch(view).unwrap_err().to_string();
        assert!(told.starts_with("kernel `product`, argument 1 (`a`): a tensor of shape [2, 6, 2"), "{told}");
        assert!(told.contains("cannot be streamed: ") && told.contains(text), "{told}");
    }
    // The advice of the messages works.
    assert!(launch(wide.view().slice(2, 8..32).unwrap()).is_ok());
    let mut padded = Tensor::<f16, 3>::padded(&device, [2, 6, 23]).unwrap();
    padded.copy_from_slice(&ragged.to_vec().unwrap()).unwrap();
    assert!(padded.view().is_streamable());
    assert!(launch(padded.view()).is_ok());
}

#[test]
fn operands_of_different_depths_end_the_producer() {
    let device = Device::cpu();
    let (a, b) = (tensor(8, [1, 20, 70]), tensor(9, [1, 9, 40]));
    let mut y = Tensor::<f32, 3>::full(&device, [1, 20, 9], -0.5).unwrap();
    let told = product.launch(&device, 1, (&a, &b, &mut y)).unwrap_err().to_string();
    assert!(told.starts_with("kernel `product` panicked in block (0, 0, 0): for_each: "), "{told}");
    assert!(told.contains("has ended; "), "{told}");
    assert!(told.contains("let both count the same tiles (at ") && told.contains("products.rs:"), "{told}");
    // Each of four tiles takes five steps. The producer loads three steps for each tile, so that it ends during the third tile.
    let y = y.to_vec().unwrap();
    assert!(y[16 * 9..].iter().all(|&x| x == -0.5), "{y:?}");
}

/// What the kernel drops instead of finishing it.
const DROPS: [&str; 4] = ["nothing", "an accumulator", "the last product", "a product before others"];

/// `y = a b'` of one tile. The kernel starts more multiplications than it finishes.
#[kernel(threads = 32, producer = 32)]
fn dropping(
    roles: WarpRoles,
    a: TmaLoad<f16, Shape2<16, 16>>,
    b: TmaLoad<f16, Shape2<8, 16>>,
    y: TmaStore<f32, Shape2<16, 8>>,
    what: u32,
    #[shared] ring: Ring<(SharedTile<f16, Shape2<16, 16>>, SharedTile<f16, Shape2<8, 16>>), 3>,
) {
    let loads = (0..3).map(move |_| (a.tile(0, 0), b.tile(0, 0)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let zero = || cx.zero_accumulator::<f32>(shape![16, 8]);
        if what == 3 {
            let guard = consumer.wait();
            drop(consumer.start(zero(), guard, |acc, (a, b)| acc.mma(a, b.transposed())));
        }
        let guard = consumer.wait();
        if what == 1 {
            let mut lost = zero();
            let (a, b) = guard.tiles();
            lost.mma(a, b.transposed());
            drop(lost);
        }
        let tile =
            consumer.start(zero(), guard, |acc, (a, b)| acc.mma(a, b.transposed())).finish(&mut consumer);
        if what == 2 {
            let guard = consumer.wait();
            drop(consumer.start(zero(), guard, |acc, (a, b)| acc.mma(a, b.transposed())));
        }
        for part in tiles {
            part.store_directly(tile);
        }
    });
}

#[test]
fn products_that_are_dropped_leave_others_alone() {
    let device = Device::cpu();
    let (a, b) = (tensor(10, [1, 16, 16]), tensor(11, [1, 8, 16]));
    let sums = expected(&a.view(), &b.view());
    for (number, what) in DROPS.into_iter().enumerate() {
        let mut y = Tensor::<f32, 3>::poisoned(&device, [1, 16, 8]).unwrap();
        let result = dropping.launch(&device, 1, (&a, &b, &mut y, number as u32));
        if number == 3 {
            // The stage of a multiplication that is dropped stays held. Later stages cannot be released before it.
            let told = result.expect_err(what).to_string();
            assert!(told.contains(": release: ") && told.contains("is still held"), "{told}");
            assert!(told.contains("products.rs:"), "{told}");
            assert!(y.to_vec().unwrap().iter().all(|x| x.is_nan()));
        } else {
            result.expect(what);
            assert_eq!(y.to_vec().unwrap(), sums, "{what}");
        }
    }
}

/// Reads the tile at indices of the launch. The tile may lie outside of the matrices.
#[kernel(threads = 32, producer = 32)]
fn read_anywhere(
    roles: WarpRoles,
    x: TmaLoad<f32, Shape2<8, 16>>,
    y: TmaStore<f32, Shape2<8, 16>>,
    batch: u32,
    i: u32,
    j: u32,
    #[shared] ring: Ring<SharedTile<f32, Shape2<8, 16>>, 2>,
) {
    roles.pipeline(ring, [x.tile_of(batch, i, j)], move |cx, mut consumer| {
        let tiles = y.schedule(cx, RowMajor);
        let guard = consumer.wait();
        for tile in tiles {
            tile.store_directly(guard.tiles().load(cx));
        }
        consumer.release(guard);
    });
}

#[test]
fn tiles_outside_of_the_matrices_are_zero() {
    let device = Device::cpu();
    let shape = [2, 20, 40];
    let x = Tensor::from_vec(&device, shape, (1..=1600).map(|i| i as f32).collect()).unwrap();
    let mut y = Tensor::<f32, 2>::poisoned(&device, [8, 16]).unwrap();
    let far = [3, 5, 1 << 20, 1 << 27, 1 << 28, 1 << 29, (1 << 29) + 1, u32::MAX - 1, u32::MAX];
    let near = [(0, 0, 0), (1, 2, 2), (0, 1, 2)];
    let away = far.into_iter().flat_map(|far| [(far, 0, 0), (0, far, 0), (1, 0, far), (0, far, far)]);
    for (batch, i, j) in near.into_iter().chain(away) {
        read_anywhere.launch(&device, 1, (&x, &mut y, batch, i, j)).unwrap();
        let wanted = (0..128_u64).map(|at| {
            let (row, column) = (u64::from(i) * 8 + at / 16, u64::from(j) * 16 + at % 16);
            let inside = batch < 2 && row < 20 && column < 40;
            if inside { (u64::from(batch) * 800 + row * 40 + column + 1) as f32 } else { 0.0 }
        });
        assert!(y.to_vec().unwrap().into_iter().eq(wanted), "tile {i}, {j} of matrix {batch}");
    }
}

/// Counts the tiles of an output whose size the launch states.
#[kernel(threads = 32, producer = 32)]
fn counting(roles: WarpRoles, counts: u32, y: SpanMut<u32, (u32,)>) {
    let tiles = roles.tile_indices(RowMajor, [counts, counts, 1]);
    let _ = (tiles.count(), y);
}

#[test]
fn more_tiles_than_can_be_numbered_are_an_error() {
    let device = Device::cpu();
    let mut y = Tensor::<u32, 1>::zeros(&device, [1]).unwrap();
    counting.launch(&device, 1, (100, &mut y)).unwrap();
    let told = counting.launch(&device, 1, (1 << 16, &mut y)).unwrap_err().to_string();
    assert!(told.contains("fewer than 2^32 tiles; use larger ones"), "{told}");
    assert!(told.contains("products.rs:"), "{told}");
}

/// `y = a b + 2 y + bias` with A and B swapped, in tiles of 16 by 32. `bias` has a number for each column.
#[kernel(threads = 64, producer = 32)]
fn swap_ab(
    roles: WarpRoles,
    a: TmaLoad<tf32, Shape2<16, 8>>,
    b: TmaLoad<tf32, Shape2<8, 32>>,
    y: TmaStore<f32, Shape2<16, 32>>,
    bias: Span<f32, (u32,)>,
    #[shared] ring: Ring<(SharedTile<tf32, Shape2<16, 8>>, SharedTile<tf32, Shape2<8, 32>>), 3>,
) {
    let steps = a.tile_counts().1;
    let loads =
        roles.tile_indices(RowMajor, y.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.column(j)));
    roles.pipeline(ring, loads, move |cx, mut consumer| {
        for tile in y.schedule(cx, RowMajor) {
            let sums =
                consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(b.transposed(), a.transposed()));
            let result = tile.add_row(cx, tile.add_previous(cx, sums.transposed_accumulators(), 2.0), bias);
            tile.store_directly(result);
        }
    });
}

#[test]
fn transposed_accumulators_are_stored_as_the_product() {
    let device = Device::cpu();
    let number = |seed: usize, i: usize| ((i * 7 + seed) * 31 % 13) as f32 - 6.0;
    for [rows, depth, columns] in [[1, 1, 1], [16, 8, 32], [37, 21, 70], [5, 0, 40]] {
        let operand = |seed, shape: [usize; 2]| {
            let mut tensor = Tensor::<tf32, 2>::padded(&device, shape).unwrap();
            let numbers: Vec<_> = (0..shape[0] * shape[1]).map(|i| tf32::from_f32(number(seed, i))).collect();
            tensor.copy_from_slice(&numbers).unwrap();
            tensor
        };
        let (a, b) = (operand(1, [rows, depth]), operand(2, [depth, columns]));
        let before: Vec<f32> = (0..rows * columns).map(|i| number(3, i)).collect();
        let bias: Vec<f32> = (0..columns).map(|j| number(4, j)).collect();
        let mut y = Tensor::from_slice(&device, [rows, columns], &before).unwrap();
        let bias_tensor = Tensor::from_slice(&device, [columns], &bias).unwrap();
        swap_ab.launch(&device, 3, (&a, &b, &mut y, &bias_tensor)).unwrap();
        for (at, found) in y.to_vec().unwrap().into_iter().enumerate() {
            let (i, j) = (at / columns, at % columns);
            let sum: f32 = (0..depth).map(|k| number(1, i * depth + k) * number(2, k * columns + j)).sum();
            let wanted = sum + 2.0 * before[at] + bias[j];
            assert_eq!(found, wanted, "{rows} x {depth} x {columns}: row {i}, column {j}");
        }
    }
}
