//! Which tiles of a writable tensor are a block's own, when blocks go different ways.

use crate::devices::devices;
use crate::failures::Failures;
use cuda_tiles_host::{Launch, Tensor};
use cuda_tiles_test_kernels::ownership as kernels;

#[test]
fn blocks_that_branch_may_store_by_one_naming() {
    let mut failures = Failures::new::<i32>("one naming");
    for device in devices() {
        for [rows, columns] in [[4, 8], [9, 17], [3, 40], [30, 5]] {
            let mut x = Tensor::poisoned(device, [rows, columns]).unwrap();
            let mut y = Tensor::poisoned(device, [columns, rows]).unwrap();
            // The tiles of the second tensor are counted the other way round: it has as many blocks as either needs.
            let blocks = rows.div_ceil(4).max(columns.div_ceil(8)) as u32;
            kernels::one_naming.launch(device, (blocks, blocks), (&mut x, &mut y)).unwrap();
            let value = |row: usize, column: usize, [i, j]: [usize; 2]| {
                (row % 4 * 8 + column % 8 + i * 1000 + j * 100) as i32
            };
            failures.exact(device, &format!("{rows} x {columns}"), &x.to_vec().unwrap(), |at| {
                let (row, column) = (at / columns, at % columns);
                let (i, j) = (row / 4, column / 8);
                2 * (value(row, column, [i, j]) + i32::from(i >= j))
            });
            failures.exact(device, &format!("{columns} x {rows}, swapped"), &y.to_vec().unwrap(), |at| {
                // Element (row, column) of the swapped tensor, whose tile (j, i) is block (i, j)'s.
                let (row, column) = (at % rows, at / rows);
                value(row, column, [column / 8, row / 4])
            });
        }
    }
}

#[test]
fn numbers_of_any_type_name_tiles_alike() {
    let mut failures = Failures::new::<i32>("numbers in an index");
    for device in devices() {
        let mut x = Tensor::poisoned(device, [7, 4]).unwrap();
        kernels::one_naming_of_integers.launch(device, 7, (&mut x,)).unwrap();
        failures.exact(device, "7 rows", &x.to_vec().unwrap(), |at| {
            let i = at as i32 / 4;
            if i % 2 == 0 { 2 * i } else { 3 * i }
        });
    }
}
