//! Products in tiles whose columns or rows are no power of two: bias, previous contents and both ways to store, at sizes around the tiles'
//! edges.

use super::{Matrices, Whole, describe, devices, size};
use crate::test_values::Random;
use cuda_tiles::launch::Kernel;
use cuda_tiles::memory::MatrixShape;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_streams::padded::{
    LARGEST_ADDED, padded_nn, padded_nt, padded_promoted, padded_rows_nn, padded_rows_nt,
    padded_rows_of_panels, padded_tt, padded_wide_rows,
};

type Product<T, O, X, Y, Z> = Kernel<(TmaLoad<T, X>, TmaLoad<T, Y>, TmaStore<O, Z>, Span<O, (u32,)>, u32)>;

/// A side at the edges of tiles and of their boxes, and beyond.
fn around(random: &mut Random, tile: usize) -> usize {
    const OFFSETS: [isize; 11] = [-64, -33, -32, -1, 0, 1, 7, 8, 32, 63, 65];
    let edge = (1 + random.below(3) as usize) * tile;
    edge.strict_add_signed(OFFSETS[random.below(OFFSETS.len() as u64) as usize])
}

/// Checks a kernel whose operands are transposed or not.
fn check<T: Whole, O: Whole, X: MatrixShape, Y: MatrixShape, Z: MatrixShape>(
    kernel: &Product<T, O, X, Y, Z>,
    [transpose_a, transpose_b]: [bool; 2],
) {
    for device in devices() {
        if !device.supports(kernel.description()).unwrap() {
            continue;
        }
        let mut random = Random::new(98);
        for round in 0..if device.is_gpu() { 24 } else { 4 } {
            let depth = size(&mut random, 140);
            let mut side = |length: usize| {
                if length.is_power_of_two() { size(&mut random, 140) } else { around(&mut random, length) }
            };
            let (rows, columns) = (side(Z::ROWS), side(Z::COLUMNS));
            let name = kernel.description().name;
            let what = format!("{name} on {}: {rows} x {columns}, sums of {depth}", describe(device));
            let a = Matrices::random(&mut random, [1, rows, depth], if depth > 60 { 0 } else { -1 });
            let b = Matrices::random(&mut random, [1, depth, columns], -1);
            // No sum is a number that was there before: tiles that are not stored are found, and tiles that are added twice.
            let previous = Matrices::random(&mut random, [1, rows, columns], -1);
            let bias = Matrices::random(&mut random, [1, 1, columns], -30);
            let is_added = Z::ROWS * Z::COLUMNS <= LARGEST_ADDED;
            let sums =
                a.times(&b).map(&previous, |sum, previous| if is_added { sum + previous } else { sum });
            let sums = Matrices::filled(sums.shape, |_, i, j| sums.at(0, i, j) + bias.at(0, 0, j));
            let a = if transpose_a { a.transposed() } else { a }.padded::<T>(device);
            let b = if transpose_b { b.transposed() } else { b }.padded::<T>(device);
            let bias = Tensor::from_slice(device, [columns], &bias.elements::<O>()).unwrap();
            for (is_padded, directly) in [(false, 0), (true, 0), (round % 2 == 0, 1)] {
                let mut c = if is_padded {
                    Tensor::padded(device, sums.shape).unwrap()
                } else {
                    Tensor::<O, 3>::poisoned(device, sums.shape).unwrap()
                };
                c.copy_from_slice(&previous.elements()).unwrap();
                let blocks = 1 + random.below(7) as u32;
                kernel.launch(device, blocks, (&a, &b, &mut c, &bias, directly)).unwrap();
                sums.check(
                    &c,
                    &format!("{what}, {blocks} blocks, padded: {is_padded}, directly: {directly}"),
                );
            }
        }
    }
}

#[test]
fn products_of_padded_columns() {
    let (nn, nt) = ([false, false], [false, true]);
    check(padded_nn::<f16, f32, f16, 64, 96, 64>(), nn);
    check(padded_nn::<f16, f32, f32, 64, 160, 64>(), nn);
    check(padded_nn::<bf16, f32, bf16, 64, 192, 64>(), nn);
    check(padded_nt::<f16, f32, f32, 64, 96, 32>(), nt);
    check(padded_nt::<bf16, f32, bf16, 64, 160, 64>(), nt);
    check(padded_nt::<f16, f32, f16, 64, 192, 64>(), nt);
}

#[test]
fn products_of_padded_columns_of_8_bits() {
    let nt = [false, true];
    check(padded_nt::<i8, i32, i8, 64, 96, 64>(), nt);
    check(padded_nt::<i8, i32, i8, 64, 160, 128>(), nt);
    check(padded_nt::<i8, i32, i8, 64, 192, 128>(), nt);
    check(padded_promoted::<f8e4m3, f32, f32, 64, 96, 64>(), nt);
    check(padded_promoted::<f8e4m3, f32, bf16, 64, 144, 64>(), nt);
    check(padded_promoted::<f8e4m3, f32, f16, 64, 192, 64>(), nt);
}

#[test]
fn products_of_padded_columns_with_a_across_its_stage() {
    let tt = [true, true];
    check(padded_tt::<tf32, f32, f32, 64, 96, 32>(), tt);
    check(padded_tt::<tf32, f32, f32, 64, 192, 32>(), tt);
    check(padded_tt::<f16, f32, f16, 128, 96, 64>(), tt);
}

#[test]
fn products_of_padded_rows() {
    let (nn, nt) = ([false, false], [false, true]);
    check(padded_rows_nt::<f16, f32, f16, 80, 64, 64>(), nt);
    check(padded_rows_nt::<f16, f32, f16, 64, 64, 64>(), nt);
    check(padded_rows_nt::<bf16, f32, bf16, 112, 64, 64>(), nt);
    check(padded_rows_nt::<i8, i32, i8, 96, 64, 64>(), nt);
    check(padded_rows_nn::<f16, f32, f16, 176, 128, 64>(), nn);
    check(padded_rows_nn::<bf16, f32, bf16, 208, 128, 64>(), nn);
    check(padded_rows_nn::<f16, f32, f32, 224, 128, 64>(), nn);
    check(padded_rows_nn::<f16, f32, f16, 240, 128, 64>(), nn);
    // One panel for each of two blocks of columns.
    check(padded_rows_nn::<bf16, f32, bf16, 64, 256, 64>(), nn);
    // 32-bit elements: two panels for each warpgroup, at power-of-two sizes as well.
    check(padded_rows_nn::<tf32, f32, f32, 256, 128, 32>(), nn);
}

#[test]
fn products_of_padded_rows_through_small_panels() {
    let nt = [false, true];
    check(padded_rows_of_panels::<f16, f32, f16, 80, 64, 64>(), nt);
    check(padded_rows_of_panels::<bf16, f32, bf16, 64, 64, 64>(), nt);
    check(padded_wide_rows::<f16, f32, f16, 112, 256, 64>(), nt);
    check(padded_wide_rows::<bf16, f32, bf16, 144, 256, 64>(), nt);
    check(padded_wide_rows::<f16, f32, f16, 160, 256, 64>(), nt);
}
