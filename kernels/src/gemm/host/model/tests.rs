//! The estimated times compare as measured ones do.

use super::super::plan::TileConfig;
use super::super::plan::tests::{TILES, configs, problem};
use super::*;
use std::format;
use std::vec::Vec;

fn best(problem: Problem) -> Plan {
    let tma = configs(&TILES, Loads::Tma);
    let others =
        [configs(&[[128, 256]], Loads::Cluster([2, 1])), configs(&[[64, 64]], Loads::Threads)].concat();
    let tma = [tma, others].concat();
    let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
    fastest(&problem, problem.plans(&tma, &tma, 132), machine).unwrap()
}

#[test]
fn boxes_are_those_of_tensor_maps() {
    use cuda_tiles::prelude::{D, TmaLoad, f16};
    use cuda_tiles::shape::Padded;
    macro_rules! check {
        ($($rows:ty = $number:literal)*) => {
            [$(($number, box_rows($number), TmaLoad::<f16, ($rows, D<64>)>::BOX.rows as usize)),*]
        };
    }
    let found = check!(D<16> = 16 D<32> = 32 D<64> = 64 D<128> = 128 D<256> = 256 Padded<96> = 96 Padded<112> = 112
        Padded<144> = 144 Padded<160> = 160 Padded<176> = 176 Padded<192> = 192 Padded<208> = 208);
    for (rows, here, there) in found {
        assert_eq!(here, there, "of {rows} rows");
    }
}

/// A tile that has few rows of an operand left takes TMA longer than one that is whole, but where no rows outside are loaded.
#[test]
fn rows_of_zeros_cost_more_than_others() {
    let times = |tile, sizes: [usize; 2]| {
        let (loads, decomposition) = (Loads::Tma, Decomposition::DataParallel);
        let plan = Plan { loads, rows: tile, columns: 128, decomposition };
        sizes.map(|rows| copying(&problem([1, rows, 4096, 4096]), plan, 132.0, [false; 2]))
    };
    let [ragged, whole] = times(128, [258, 384]);
    assert!(ragged > whole, "{ragged} {whole}");
    let [ragged, whole] = times(64, [130, 192]);
    assert!(ragged <= whole, "{ragged} {whole}");
    // More rows are more work.
    let plan = Plan { loads: Loads::Tma, rows: 64, columns: 128, decomposition: Decomposition::DataParallel };
    let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
    let [few, more] = [128, 192].map(|rows| microseconds(&problem([1, rows, 4096, 4096]), plan, machine));
    assert!(more > few, "{few} {more}");
}

#[test]
fn the_model_knows_the_shapes_of_products() {
    let tile = |sizes| {
        let Plan { rows, columns, .. } = best(problem(sizes));
        [rows, columns]
    };
    // Large products want large tiles, also where they leave a small part of a wave.
    for size in [4096, 8192, 9216, 10240, 16384, 30000] {
        assert_eq!(tile([1, size, size, size]), [128, 256], "{size}");
    }
    // Padding decides whether rows begin at lines, and so whether clusters are faster.
    let padded = |bytes| best(Problem { row_alignment: [bytes; 2], ..problem([1, 4097, 4093, 4091]) }).loads;
    assert_eq!([padded(128), padded(16)], [Loads::Tma, Loads::Cluster([2, 1])]);
    let without_wgmma = Machine::Gpu { wgmma: false, multiprocessors: 132 };
    let large = problem([1, 8192, 8192, 8192]);
    let plan = fastest(&large, large.plans(&configs(&TILES, Loads::Tma), &[], 132), without_wgmma).unwrap();
    assert_eq!([plan.rows, plan.columns], [128, 256]);
    for rows in [1, 7, 16] {
        assert_eq!(tile([1, rows, 4096, 4096]), [16, 64], "{rows} rows");
        assert_eq!(tile([1, rows, 8192, 8192]), [32, 64], "{rows} rows by large weights");
    }
    // 272 tiles of 64 columns are eight more than a wave. Alone they would wait for what memory moves to eight multiprocessors.
    let is_split =
        |columns| best(problem([1, 2, columns, 5120])).decomposition != Decomposition::DataParallel;
    assert_eq!([16_384, 17_408].map(is_split), [false, true]);
    // A deep product of a small result has partial sums.
    let deep = best(problem([1, 128, 128, 100_000]));
    assert!(matches!(deep.decomposition, Decomposition::SplitK(splits) if splits >= 16), "{deep}");
}

#[test]
fn small_operands_stay_where_all_k_steps_have_stages() {
    let plan = |decomposition| Plan { loads: Loads::Tma, rows: 64, columns: 64, decomposition };
    let whole = plan(Decomposition::DataParallel);
    let thin = |depth| problem([1, 300_000, 8, depth]);
    // The ring has six stages.
    assert_eq!(stay(&thin(6 * 64), whole, true), [false, true]);
    assert_eq!(stay(&thin(6 * 64 + 1), whole, true), [false; 2]);
    assert_eq!(stay(&thin(64), whole, false), [false; 2]);
    assert_eq!(stay(&thin(64), plan(Decomposition::SplitK(2)), true), [false; 2]);
    assert_eq!(stay(&problem([1, 64, 64, 64]), whole, true), [true; 2]);
}

#[test]
fn a_vector_has_tiles_for_small_and_for_large_matrices() {
    let sizes = [[1, 8], [1, 32], [1, 64], [1, 256]];
    let configs: Vec<_> = configs(&sizes, Loads::Vector)
        .into_iter()
        .map(|config| TileConfig { a: None, b: Some(Major::Row), ..config })
        .collect();
    let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
    let best = |[columns, depth]: [usize; 2], bytes| {
        let problem = Problem {
            b: Major::Row,
            in_place: Some([Major::Row; 2]),
            element_bytes: [bytes; 2],
            ..problem([1, 1, columns, depth])
        };
        fastest(&problem, problem.plans(&configs, &configs, 132), machine).unwrap().columns
    };
    // As many blocks as possible, each of few steps.
    for sizes in [[3, 264], [18, 388], [150, 767]] {
        assert_eq!(best(sizes, 2), 8, "{sizes:?}");
    }
    // Whole lines of a row at once.
    for bytes in [2, 4, 8] {
        assert!(best([8192, 8192], bytes) * bytes >= LINE_BYTES, "{bytes}");
    }
}

#[test]
fn small_operands_that_tma_cannot_read_are_not_packed() {
    let packed = |bytes, sizes| Problem {
        packed_bytes: [bytes; 2],
        row_alignment: [128; 2],
        one_by_one: [true; 2],
        beside_chunks: [true; 2],
        ..problem(sizes)
    };
    let unaligned = packed(100 * 101 * 2, [1, 100, 100, 101]);
    assert_eq!(best(unaligned).loads, Loads::Threads);
    let large = packed(5001 * 5001 * 2, [1, 5001, 5001, 5001]);
    assert_eq!(best(large).loads, Loads::Tma);
}

#[test]
fn small_results_have_small_tiles() {
    let configs = configs(&[[64, 64], [16, 64], [16, 16]], Loads::Threads);
    let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
    let best = |sizes| {
        let problem = problem(sizes);
        fastest(&problem, problem.plans(&configs, &configs, 132), machine).unwrap()
    };
    // As many blocks as possible load few k steps each.
    for sizes in [[1, 48, 294, 126], [1, 137, 15, 3382], [1, 67, 26, 332]] {
        assert_eq!([best(sizes).rows, best(sizes).columns], [16, 16], "{sizes:?}");
    }
    assert_eq!(best([1, 3000, 3000, 500]).rows, 64);
}

#[test]
fn rows_of_very_small_results_are_added_up_each_by_a_block() {
    assert_eq!([8, 9].map(|splits| adds_up_rows([1, 16, 128], splits)), [false, true]);
    assert_eq!(
        [85, 86].map(|rows| adds_up_rows([3, rows, 96], 18)),
        [true, false],
        "more blocks than two each"
    );
    assert_eq!([192, 193].map(|rows| adds_up_rows([1, rows, 128], 18)), [true, false], "more elements");
    assert!(!adds_up_rows([1, 352, 24], 82), "blocks that are mostly outside of the result");
}
