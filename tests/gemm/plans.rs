//! Products by the plans of every kind of kernel.

use cuda_tiles::prelude::*;
use cuda_tiles_host::Tensor;
use cuda_tiles_kernels::gemm::{Activation, Decomposition, Gemm, Loads, Plan};
use cuda_tiles_suite::testing::{Random, devices};

use crate::reference::{Matrices, Wish, check, check_by, check_plans, check_whole_plans};

/// The stream-K plan, if there is one.
fn with_last_wave(_random: &mut Random, plans: &[Plan]) -> Option<Plan> {
    plans.iter().copied().find(|plan| plan.decomposition == Decomposition::StreamK)
}

#[test]
fn last_waves_are_cut_evenly() {
    for device in devices() {
        let mut random = Random::new();
        let (count, most) = if device.is_gpu() { (20, 900) } else { (3, 300) };
        for _ in 0..count {
            let mut wish = || Wish::random(&mut random, most);
            let wishes = [wish(), wish(), wish(), wish(), wish(), wish()];
            check_by::<f16, f16, f16>(device, &mut random, wishes[0], with_last_wave);
            check_by::<bf16, bf16, f32>(device, &mut random, wishes[1], with_last_wave);
            check_by::<tf32, tf32, f32>(device, &mut random, wishes[2], with_last_wave);
            check_by::<f8e4m3, f8e4m3, bf16>(device, &mut random, wishes[3], with_last_wave);
            check_by::<i8, i8, i32>(device, &mut random, wishes[4], with_last_wave);
            check_by::<u8, i8, i32>(device, &mut random, wishes[5], with_last_wave);
        }
    }
}

/// Stream-K behind full waves, of one matrix and of several, against data-parallel products. The sums are exact.
#[test]
fn whole_waves_come_before_the_last_one() {
    for device in devices() {
        let mut random = Random::new();
        let blocks = device.multiprocessors() as usize;
        if blocks == 1 {
            // All waves are full.
            continue;
        }
        for batches in [1, 3] {
            // Tiles for one wave and about half of the next.
            let rows = (blocks * 3 / 2 + 1).div_ceil(batches);
            let rows = if (rows * batches).is_multiple_of(blocks) { rows + 1 } else { rows };
            let [m, n, k] = [rows * 128 - 5, 200, 300];
            let a = Matrices::<i8>::random(device, &mut random, [batches, m, k], false);
            let b = Matrices::<i8>::random(device, &mut random, [1, k, n], true);
            let [whole, last_wave] =
                [Decomposition::DataParallel, Decomposition::StreamK].map(|decomposition| {
                    let mut c = Tensor::<i32, 3>::poisoned(device, [batches, m, n]).unwrap();
                    let plan = Plan { loads: Loads::Tma, rows: 128, columns: 256, decomposition };
                    Gemm::new().plan(plan).multiply(a.view(), b.view(), &mut c).unwrap();
                    c.to_vec().unwrap()
                });
            assert!(whole == last_wave, "{device}: {batches} x {m} x {n} of i8");
            // Where rows do not begin at multiples of 128 bytes, clusters take the place of these waves. The CPU has such kernels for
            // K-major operands alone.
            let is_mn_major = device.is_gpu();
            let (x, y) = (
                Matrices::<f16>::random_in_lines(device, &mut random, [batches, m, k], is_mn_major),
                Matrices::<f16>::random_in_lines(device, &mut random, [batches, k, n], !is_mn_major),
            );
            let [whole, last_wave] =
                [Decomposition::DataParallel, Decomposition::StreamK].map(|decomposition| {
                    let mut c = Tensor::<f16, 3>::poisoned(device, [batches, m, n]).unwrap();
                    let plan = Plan { loads: Loads::Tma, rows: 128, columns: 256, decomposition };
                    let gemm = Gemm::new().plan(plan).alpha(0.5).activation(Activation::Relu);
                    gemm.multiply(x.view(), y.view(), &mut c).unwrap();
                    c.to_vec().unwrap()
                });
            let differ = whole.iter().zip(&last_wave).position(|(x, y)| x.to_bits() != y.to_bits());
            assert_eq!(differ, None, "{device}: {batches} x {m} x {n} of f16");
        }
    }
}

/// Threads copy operands ahead by 4 bytes or more: elements of 16 bits where rows have even lengths, but for few rows of operand A, those
/// of 64 bits always. Tiles are whole, and reach over the edges of both operands.
#[test]
fn threads_copy_rows_of_even_lengths_ahead() {
    for device in devices() {
        let mut random = Random::new();
        let mut tiles = Vec::new();
        // The CPU has such kernels for K-major operands alone. Whether rows have even lengths is a matter of chance.
        let orders = if device.is_gpu() { vec![0, 1, 2, 3] } else { vec![2; 8] };
        for order in orders {
            for sizes in [[1, 10, 262, 450], [1, 11, 262, 451], [1, 300, 30, 262], [2, 130, 66, 126]] {
                let wish = Wish {
                    sizes,
                    transposed: [order & 1 == 1, order & 2 == 2],
                    ..Wish::random(&mut random, 100)
                };
                let by_threads = |plan: &Plan| plan.loads == Loads::Threads;
                tiles.extend(check_plans::<f16, f16, f16>(device, &mut random, wish, by_threads));
                check_plans::<bf16, bf16, f32>(device, &mut random, wish, by_threads);
                let [batches, m, n, k] = sizes;
                let odd = Wish { sizes: [batches, m + 1, n + 1, k + 1], ..wish };
                check_plans::<f64, f64, f64>(device, &mut random, odd, by_threads);
            }
        }
        for [rows, columns] in [[128, 64], [16, 128]] {
            assert!(
                tiles.iter().any(|plan| [plan.rows, plan.columns] == [rows, columns]),
                "{device}: {rows} x {columns}"
            );
        }
    }
}

/// Each block stores many tiles, of which the last panels or all but one lie outside the result: a panel must not be written while the
/// store of an earlier one still reads its memory.
#[test]
fn many_tiles_of_few_columns_are_stored_whole() {
    for device in devices() {
        let mut random = Random::new();
        let rows = if device.is_gpu() { 40_000 } else { 300 };
        for columns in [16, 44, 112, 272] {
            let wish = Wish { sizes: [1, rows, columns, 24], ..Wish::random(&mut random, 100) };
            let wish = Wish { transposed: [false, false], has_bias: false, beta: 0.0, ..wish };
            check_whole_plans::<f16, f16, f16>(device, &mut random, wish);
        }
    }
}

/// Rows of a few bytes that many tiles load are packed as columns: those of operand B, and those of operand A as it lies in memory,
/// MN-major and K-major.
#[test]
fn short_rows_that_many_tiles_share_are_packed() {
    for device in devices() {
        let mut random = Random::new();
        let mn_major = [([1, 9_000, 8, 24], [false, false]), ([1, 8, 9_000, 24], [true, false])];
        let k_major = [([1, 6_100, 72, 24], [false, true]), ([1, 72, 6_100, 24], [false, true])];
        for (sizes, transposed) in [mn_major, k_major].concat() {
            let wish = Wish { sizes, transposed, ..Wish::random(&mut random, 100) };
            check_whole_plans::<f16, f16, f16>(device, &mut random, wish);
        }
    }
}

/// Blocks that have many tiles of a thin product load its small operand in the first ones alone, if all its k steps have stages.
#[test]
fn a_small_operand_stays_for_many_tiles() {
    for device in devices() {
        let mut random = Random::new();
        for steps in [1, 2, 3, 5, 7, 8] {
            // More tiles for each block than there are stages.
            let tiles =
                if device.is_gpu() { device.multiprocessors() as usize * 2 * (8 / steps + 1) } else { 4 };
            let (long, short) = (64 * tiles + 24, 1 + random.below(24));
            let [m, n] = if random.below(2) == 0 { [long, short] } else { [short, long] };
            // A k step is 128 bytes.
            let mut wish = |bytes| Wish {
                sizes: [1, m, n, (128 * steps - random.below(8)) / bytes],
                beta: 0.0,
                ..Wish::random(&mut random, 100)
            };
            let wishes = [wish(2), wish(4), wish(1)];
            check_whole_plans::<f16, f16, f16>(device, &mut random, wishes[0]);
            match random.below(3) {
                0 => check_whole_plans::<tf32, tf32, f32>(device, &mut random, wishes[1]),
                1 => check_whole_plans::<f8e4m3, f8e4m3, bf16>(device, &mut random, wishes[2]),
                _ => check_whole_plans::<i8, i8, i32>(device, &mut random, wishes[2]),
            }
        }
    }
}

#[test]
fn few_rows_have_tiles_of_their_own() {
    for device in devices() {
        let mut random = Random::new();
        for rows in [1, 5, 16, 17, 32, 33, 64] {
            let wish = Wish { sizes: [1, rows, 300, 520], ..Wish::random(&mut random, 100) };
            let wish = Wish { transposed: [false, wish.transposed[1]], ..wish };
            check::<f16, f16, f16>(device, &mut random, wish);
            check::<bf16, bf16, f32>(device, &mut random, wish);
            check::<f8e4m3, f8e4m3, bf16>(device, &mut random, wish);
            check::<i8, i8, i32>(device, &mut random, wish);
        }
    }
}

/// Very small results of many partial sums, of which a block adds up one row: fewer parts than it loads at once, and several times as many.
#[test]
fn blocks_add_up_rows_of_many_partial_sums() {
    for device in devices() {
        let mut random = Random::new();
        let parts = |plan: &Plan| match plan.decomposition {
            Decomposition::SplitK(parts) => parts,
            _ => 0,
        };
        let mut most = 0;
        for sizes in [[1, 3, 140, 8600], [2, 2, 24, 8600]] {
            let wish = Wish { sizes, transposed: [false, true], ..Wish::random(&mut random, 100) };
            let checked = check_plans::<f16, f16, f16>(device, &mut random, wish, |plan| parts(plan) > 32);
            most = most.max(checked.iter().map(parts).max().unwrap_or(0));
            let nine = Wish { sizes: [sizes[0], sizes[1], sizes[2], 2400], ..wish };
            let many = |plan: &Plan| parts(plan) >= 9;
            check_plans::<bf16, bf16, f32>(device, &mut random, nine, many);
            check_plans::<i8, i8, i32>(device, &mut random, nine, many);
            check_plans::<f64, f64, f64>(device, &mut random, nine, many);
        }
        assert!(most > 32, "{device}: up to {most} parts");
    }
}
