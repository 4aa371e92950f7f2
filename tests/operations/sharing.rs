//! Blocks that share loads: those with one producer, and those of a cluster.

use super::{Matrices, devices, size};
use crate::test_values::Random;
use cuda_tiles_host::{Device, Launch, Tensor};
use cuda_tiles_test_streams::clusters::{
    product_by_cluster_of_columns, product_by_cluster_of_four_columns, product_by_cluster_of_rows,
    product_by_cluster_of_rows_and_columns, read_unequally_in_clusters, read_unequally_in_clusters_of_four,
};
use cuda_tiles_test_streams::consumers::{product_by_two, read_unequally};

/// The devices that run kernels whose blocks share a producer.
fn devices_with_warpgroups() -> impl Iterator<Item = &'static Device> {
    devices().iter().filter(|device| device.supports(product_by_two.description()).unwrap())
}

#[test]
fn blocks_that_share_a_producer() {
    for device in devices_with_warpgroups() {
        let mut random = Random::new(97);
        let (count, most) = if device.is_gpu() { (30, 3000) } else { (8, 300) };
        for _ in 0..count {
            let (batches, rows) = (1 + random.below(3) as usize, size(&mut random, most));
            let (depth, columns) = (size(&mut random, 64), size(&mut random, 200));
            let x = Matrices::random(&mut random, [batches, rows, depth], -1);
            let w = Matrices::random(&mut random, [1, depth, columns], -1);
            let expected = x.times(&Matrices::filled([batches, depth, columns], |_, i, j| w.at(0, i, j)));
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            let ctas = 1 + random.below(9) as u32;
            product_by_two.launch(device, ctas, (&x.padded(device), &w.padded(device), &mut y)).unwrap();
            expected.check(&y, &format!("{:?} and {columns} columns on {device}, {ctas} CTAs", x.shape));
        }
    }
}

/// Blocks end early, the first one or the last one, and take turns that others do not take while they hold stages.
#[test]
fn blocks_that_share_a_producer_and_differ() {
    let numbers = |[a, b, c]: [u32; 3]| a | b << 8 | c << 16;
    for device in devices_with_warpgroups() {
        let x = Matrices::filled([1, 20 * 64, 16], |_, i, j| ((i / 64 + i % 64 + j) % 5) as i64);
        let unit = Matrices::filled([1, 16, 16], |_, i, j| i64::from(i == j));
        let (x_on_device, unit) = (x.padded(device), unit.padded(device));
        for counts in [[20, 20, 20], [0, 0, 0], [20, 3, 0], [0, 20, 7], [1, 0, 20], [5, 6, 7]] {
            for periods in [[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 1, 2], [3, 1, 1]] {
                // Two CTAs, the second of which has no second and third tile.
                let mut y = Tensor::poisoned(device, [1, 4 * 64, 16]).unwrap();
                read_unequally
                    .launch(device, 2, (&x_on_device, &unit, &mut y, numbers(counts), numbers(periods)))
                    .unwrap();
                let sum = |_, i: usize, j| {
                    (0..counts[i / 64 % 3] as usize).map(|tile| x.at(0, tile * 64 + i % 64, j)).sum()
                };
                Matrices::filled([1, 4 * 64, 16], sum)
                    .check(&y, &format!("{counts:?} steps, turns each {periods:?} on {device}"));
            }
        }
    }
}

/// Blocks of a cluster share the tiles of one operand or of both. The last cluster of a row or a column has blocks without a tile, if their
/// number is odd.
#[test]
fn clusters_of_blocks() {
    for device in devices_with_warpgroups() {
        let mut random = Random::new(98);
        let (count, most) = if device.is_gpu() { (40, 2000) } else { (8, 300) };
        for _ in 0..count {
            let (batches, rows) = (1 + random.below(3) as usize, size(&mut random, most));
            let (depth, columns) = (size(&mut random, 300), size(&mut random, 400));
            let clusters = 1 + random.below(70) as u32;
            let product = |random: &mut Random, depth: usize| {
                let x = Matrices::random(random, [batches, rows, depth], -1);
                let w = Matrices::random(random, [1, depth, columns], -1);
                let expected = x.times(&Matrices::filled([batches, depth, columns], |_, i, j| w.at(0, i, j)));
                let y = Tensor::poisoned(device, expected.shape).unwrap();
                let what = format!("{:?} and {columns} columns on {device}, {clusters} clusters", x.shape);
                (x.padded(device), w.padded(device), y, expected, what)
            };
            let (x, w, mut y, expected, what) = product(&mut random, depth);
            product_by_cluster_of_rows.launch(device, clusters, (&x, &w, &mut y)).unwrap();
            expected.check(&y, &what);
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            product_by_cluster_of_rows_and_columns.launch(device, clusters, (&x, &w, &mut y)).unwrap();
            expected.check(&y, &format!("rows and columns of blocks, {what}"));
            let mut y = Tensor::poisoned(device, expected.shape).unwrap();
            product_by_cluster_of_four_columns.launch(device, clusters, (&x, &w, &mut y)).unwrap();
            expected.check(&y, &format!("four columns of blocks, {what}"));
            let (x, w, mut y, expected, what) = product(&mut random, depth.min(64));
            product_by_cluster_of_columns.launch(device, clusters, (&x, &w, &mut y)).unwrap();
            expected.check(&y, &what);
        }
    }
}

/// Blocks of a cluster end early, each of them once, and none reads all loads, of which there is no end.
#[test]
fn clusters_of_blocks_that_differ() {
    for device in devices_with_warpgroups() {
        let x = Matrices::filled([1, 40 * 64, 16], |_, i, j| ((i / 64 + i % 64 + j) % 5) as i64);
        let unit = Matrices::filled([1, 16, 16], |_, i, j| i64::from(i == j));
        let (x_on_device, unit) = (x.padded(device), unit.padded(device));
        for counts in [[20, 20], [0, 0], [20, 3], [0, 20], [1, 0], [5, 6], [2, 1], [3, 19]] {
            // Three clusters, the last of which has no second tile.
            let mut y = Tensor::poisoned(device, [1, 5 * 64, 16]).unwrap();
            let numbers = counts[0] | counts[1] << 8;
            read_unequally_in_clusters.launch(device, 3, (&x_on_device, &unit, &mut y, numbers)).unwrap();
            let sum = |_, i: usize, j| {
                let block = i / 64 % 2;
                let tile = |k: u32| (2 * k as usize + block) * 64 + i % 64;
                (0..counts[block]).map(|k| x.at(0, tile(k), j)).sum()
            };
            Matrices::filled([1, 5 * 64, 16], sum).check(&y, &format!("{counts:?} steps on {device}"));
        }
        let units = Matrices::filled([1, 16, 32], |_, i, j| if i == j % 16 { 1 + j as i64 / 16 } else { 0 });
        let units = units.padded(device);
        let clusters_of_four = [
            [20, 20, 20, 20],
            [0, 0, 0, 0],
            [20, 3, 0, 7],
            [0, 20, 1, 0],
            [1, 0, 20, 2],
            [5, 6, 7, 20],
            [2, 1, 3, 4],
            [3, 19, 4, 19],
        ];
        for counts in clusters_of_four {
            // Six clusters. The last ones of a row and of a column have blocks without a tile.
            let mut y = Tensor::poisoned(device, [1, 5 * 64, 48]).unwrap();
            let numbers = u32::from_le_bytes(counts);
            let arguments = (&x_on_device, &units, &mut y, numbers);
            read_unequally_in_clusters_of_four.launch(device, 6, arguments).unwrap();
            let sum = |_, i: usize, j: usize| {
                let (row, column) = (i / 64 % 2, j / 16 % 2);
                let tile = |k: u8| (2 * usize::from(k) + row) * 64 + i % 64;
                let count = counts[2 * row + column];
                (0..count).map(|k| x.at(0, tile(k), j % 16) * (1 + column as i64)).sum()
            };
            Matrices::filled([1, 5 * 64, 48], sum).check(&y, &format!("{counts:?} steps on {device}"));
        }
    }
}
