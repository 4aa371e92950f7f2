//! Loops over more tiles than blocks, loops in steps, and launches that overlap.

use crate::devices::devices;
use crate::failures::Failures;
use cuda_tiles::launch::Kernel;
use cuda_tiles::prelude::*;
use cuda_tiles_host::{Launch, LaunchUnsafe, Tensor};
use cuda_tiles_test_kernels::grids as kernels;

/// The tile at a row and column of `rows` x `columns` tiles, by an order's own definition.
type Number = fn(usize, usize, usize, usize) -> usize;

/// In groups of two rows, column by column.
fn by_groups(i: usize, j: usize, rows: usize, columns: usize) -> usize {
    let group = i / 2;
    let height = (rows - 2 * group).min(2);
    2 * group * columns + j * height + i % 2
}

/// The element of a tile with this number, after both loops.
fn scheduled(number: usize, blocks: usize) -> u32 {
    (number % blocks * 1000 + number / blocks + 1_000_000) as u32
}

#[test]
fn tiles_are_scheduled_once_in_tile_order() {
    let mut failures = Failures::new::<u32>("schedule");
    let cases: [(&str, &Kernel<(SpanMut<u32, (u32, u32)>,)>, Number); 3] = [
        ("rows", &kernels::schedule_rows, |i, j, _, columns| i * columns + j),
        ("columns", &kernels::schedule_columns, |i, j, rows, _| j * rows + i),
        ("groups", &kernels::schedule_groups, by_groups),
    ];
    for device in devices() {
        for [rows, columns] in [[9usize, 14], [1, 1], [6, 8], [2, 33]] {
            let (tall, wide) = (rows.div_ceil(2), columns.div_ceil(4));
            for blocks in [1, 3, 50] {
                for (name, kernel, number) in cases {
                    let mut y = Tensor::poisoned(device, [rows, columns]).unwrap();
                    kernel.launch(device, blocks as u32, (&mut y,)).unwrap();
                    let operation = format!("{name} of {rows} x {columns} over {blocks} blocks");
                    failures.exact(device, &operation, &y.to_vec().unwrap(), |k| {
                        scheduled(number(k / columns / 2, k % columns / 4, tall, wide), blocks)
                    });
                }
            }
        }
    }
}

#[test]
fn lines_and_batches_are_scheduled_too() {
    let mut failures = Failures::new::<u32>("schedule");
    for device in devices() {
        let mut line = Tensor::poisoned(device, [61]).unwrap();
        kernels::schedule_line.launch(device, 3, (&mut line,)).unwrap();
        failures.exact(device, "line", &line.to_vec().unwrap(), |k| scheduled(k / 8, 3));
        let mut batches = Tensor::poisoned(device, [3, 7, 10]).unwrap();
        kernels::schedule_batches.launch(device, 5, (&mut batches,)).unwrap();
        failures.exact(device, "batches", &batches.to_vec().unwrap(), |k| {
            let (batch, i, j) = (k / 70, k / 10 % 7, k % 10);
            scheduled(batch * 12 + by_groups(i / 2, j / 4, 4, 3), 5)
        });
    }
}

#[test]
fn a_scheduled_tile_is_an_index_of_other_views() {
    let mut failures = Failures::new::<f32>("transpose_scheduled");
    let values: Vec<f32> = (0..50 * 37).map(|i| i as f32).collect();
    for device in devices() {
        let x = Tensor::from_slice(device, [50, 37], &values).unwrap();
        let mut y = Tensor::poisoned(device, [37, 50]).unwrap();
        kernels::transpose_scheduled.launch(device, 7, (&x, &mut y)).unwrap();
        failures.exact(device, "transpose", &y.to_vec().unwrap(), |k| values[k % 50 * 37 + k / 50]);
        let mut y = Tensor::poisoned(device, [50, 37]).unwrap();
        kernels::copy_scheduled.launch(device, 7, (&x, &mut y)).unwrap();
        failures.exact(device, "copy", &y.to_vec().unwrap(), |k| values[k]);
    }
}

#[test]
fn detail_45_loops_in_steps_have_no_limits() {
    for device in devices() {
        for (first, end, step) in [
            (0, 10, 4),
            (-5, 7, 1),
            (i32::MAX - 5, i32::MAX, 3),
            (i32::MIN, i32::MAX, i32::MAX),
            (3, 3, 1),
            (4, 3, 1),
            (i32::MAX, i32::MIN, 5),
        ] {
            let mut y = Tensor::poisoned(device, [1, 2]).unwrap();
            kernels::sum_steps.launch(device, 1, (first, end, step, &mut y)).unwrap();
            let expected: Vec<i64> = (i64::from(first)..i64::from(end)).step_by(step as usize).collect();
            let expected = [expected.iter().sum(), expected.len() as i64];
            assert_eq!(y.to_vec().unwrap(), expected, "{first} to {end} by {step} on {device}");
        }
    }
}

#[test]
fn dependent_kernels_see_what_came_before() {
    const LENGTH: usize = 1 << 20;
    for device in devices() {
        let mut x = Tensor::from_slice(device, [LENGTH], &vec![1u32; LENGTH]).unwrap();
        let mut y = Tensor::poisoned(device, [LENGTH]).unwrap();
        let blocks = (LENGTH / 64) as u32;
        let mut expected = 1u32;
        for _ in 0..20 {
            kernels::dependent_step.launch(device, blocks, (&mut x,)).unwrap();
            // SAFETY: the kernel asks for nothing.
            unsafe { kernels::dependent_copy.launch(device, blocks, (&x, &mut y)).unwrap() };
            // SAFETY: as above.
            unsafe { kernels::dependent_copy.launch(device, blocks, (&y, &mut x)).unwrap() };
            expected = expected.wrapping_mul(2).wrapping_add(3);
        }
        assert!(x.to_vec().unwrap().iter().all(|&x| x == expected), "{device}");
    }
}
