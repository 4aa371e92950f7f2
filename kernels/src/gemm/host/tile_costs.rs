//! What tiles of each shape cost, and how many blocks with such tiles share a multiprocessor: tables that `model.rs` and `benches/fit.py` read.

use super::plan::{Loads, Major, Plan, Problem};
use crate::gemm::vector::{TILES, tile_elements};

/// The bytes of a row or a column that a k step of TMA multiplies.
pub(super) const STEP_BYTES: usize = 128;

/// The costs of a tile shape on a multiprocessor that has the usual number of blocks, [`Plan::resident_blocks`], in microseconds: of a k
/// step, and of a block's first tile besides its k steps.
pub(super) type Costs = (f64, f64);

/// In place of the bytes of an element, for 8-bit floats that accumulate in tensor cores alone.
pub(super) const FAST: usize = 0;

/// The costs of tiles of these rows and columns, of operands of so many bytes, or [`FAST`].
pub(super) fn costs(loads: Loads, bytes: usize, tile: (usize, usize)) -> Costs {
    match (loads, bytes, tile) {
        (Loads::Tma, FAST, (144, 256)) => (0.675, 3.63),
        (Loads::Tma, FAST, (128, 256)) => (0.605, 2.26),
        (Loads::Tma, FAST, (208, 128)) => (0.544, 1.87),
        (Loads::Tma, FAST, (128, 192)) => (0.453, 1.88),
        (Loads::Tma, FAST, (176, 128)) => (0.4, 1.65),
        (Loads::Tma, FAST, (144, 128)) => (0.402, 1.6),
        (Loads::Tma, FAST, (128, 144)) => (0.397, 1.91),
        (Loads::Tma, FAST, (128, 128)) => (0.288, 1.36),
        (Loads::Tma, FAST, (112, 128)) => (0.254, 1.14),
        (Loads::Tma, FAST, (128, 96)) => (0.27, 1.44),
        (Loads::Tma, FAST, (96, 128)) => (0.224, 1.03),
        (Loads::Tma, FAST, (128, 64)) => (0.233, 1.0),
        (Loads::Tma, FAST, (64, 128)) => (0.184, 1.32),
        (Loads::Tma, FAST, (96, 64)) => (0.129, 0.791),
        (Loads::Tma, FAST, (80, 64)) => (0.121, 0.774),
        (Loads::Tma, FAST, (64, 64)) => (0.217, 0.659),
        (Loads::Tma, FAST, (64, 32)) => (0.166, 0.591),
        (Loads::Tma, FAST, (32, 64)) => (0.124, 0.268),
        (Loads::Tma, FAST, (64, 16)) => (0.125, 0.521),
        (Loads::Tma, FAST, (16, 64)) => (0.103, 0.264),
        (Loads::Cluster([1, 2]), FAST, (208, 128)) => (0.515, 1.36),
        (Loads::Cluster([1, 2]), FAST, (176, 128)) => (0.501, 1.38),
        (Loads::Cluster([1, 2]), FAST, (160, 128)) => (0.459, 1.4),
        (Loads::Cluster([1, 2]), FAST, (144, 128)) => (0.424, 1.24),
        (Loads::Cluster([1, 2]), FAST, (96, 64)) => (0.143, 0.534),
        (Loads::Cluster([1, 2]), FAST, (80, 64)) => (0.154, 0.693),
        (Loads::Cluster([1, 2]), FAST, (112, 64)) => (0.163, 0.526),
        (Loads::Cluster([2, 1]), FAST, (160, 256)) => (0.789, 3.11),
        (Loads::Cluster([2, 1]), FAST, (128, 256)) => (0.63, 1.71),
        (Loads::Cluster([2, 1]), FAST, (128, 192)) => (0.469, 1.39),
        (Loads::Cluster([2, 1]), FAST, (176, 128)) => (0.493, 1.42),
        (Loads::Cluster([1, 4]), FAST, (128, 128)) => (0.298, 1.01),
        (Loads::Cluster([1, 4]), FAST, (96, 64)) => (0.168, 0.763),
        (Loads::Cluster([4, 1]), FAST, (64, 80)) => (0.183, 0.931),
        (Loads::Cluster([4, 1]), FAST, (128, 112)) => (0.28, 1.45),
        (Loads::Cluster([4, 1]), FAST, (128, 160)) => (0.383, 1.4),
        (Loads::Cluster([2, 2]), FAST, (176, 128)) => (0.443, 1.42),
        (Loads::Cluster([2, 2]), FAST, (128, 144)) => (0.45, 1.65),
        (Loads::Cluster([2, 2]), FAST, (96, 128)) => (0.305, 1.15),
        (Loads::Cluster([2, 2]), FAST, (64, 96)) => (0.201, 0.859),
        (Loads::Cluster([2, 2]), FAST, (64, 80)) => (0.183, 0.761),
        (Loads::Cluster([2, 2]), FAST, (48, 64)) => (0.162, 0.475),
        (Loads::Tma, 1, (128, 256)) => (0.624, 2.65),
        (Loads::Tma, 1, (208, 128)) => (0.528, 2.15),
        (Loads::Tma, 1, (176, 128)) => (0.455, 1.98),
        (Loads::Tma, 1, (144, 128)) => (0.399, 1.7),
        (Loads::Tma, 1, (128, 144)) => (0.394, 2.14),
        (Loads::Tma, 1, (128, 128)) => (0.31, 1.59),
        (Loads::Tma, 1, (128, 96)) => (0.25, 1.47),
        (Loads::Tma, 1, (96, 128)) => (0.236, 1.37),
        (Loads::Tma, 1, (128, 64)) => (0.223, 1.07),
        (Loads::Tma, 1, (64, 128)) => (0.181, 1.33),
        (Loads::Tma, 1, (96, 64)) => (0.147, 0.966),
        (Loads::Tma, 1, (80, 64)) => (0.138, 0.913),
        (Loads::Tma, 1, (64, 64)) => (0.216, 0.876),
        (Loads::Tma, 1, (64, 32)) => (0.174, 0.647),
        (Loads::Tma, 1, (32, 64)) => (0.17, 0.281),
        (Loads::Tma, 1, (64, 16)) => (0.145, 0.532),
        (Loads::Tma, 1, (16, 64)) => (0.145, 0.278),
        (Loads::Cluster([1, 2]), 1, (208, 128)) => (0.566, 1.69),
        (Loads::Cluster([1, 2]), 1, (176, 128)) => (0.487, 1.65),
        (Loads::Cluster([1, 2]), 1, (160, 128)) => (0.436, 1.52),
        (Loads::Cluster([1, 2]), 1, (144, 128)) => (0.408, 1.39),
        (Loads::Cluster([1, 2]), 1, (80, 64)) => (0.145, 0.631),
        (Loads::Cluster([2, 1]), 1, (128, 256)) => (0.654, 2.03),
        (Loads::Cluster([2, 1]), 1, (128, 96)) => (0.293, 1.22),
        (Loads::Cluster([2, 1]), 1, (176, 128)) => (0.48, 1.64),
        (Loads::Cluster([1, 4]), 1, (128, 128)) => (0.323, 1.4),
        (Loads::Cluster([1, 4]), 1, (96, 64)) => (0.163, 0.763),
        (Loads::Cluster([4, 1]), 1, (64, 80)) => (0.165, 0.848),
        (Loads::Cluster([2, 2]), 1, (128, 144)) => (0.439, 1.8),
        (Loads::Cluster([2, 2]), 1, (96, 128)) => (0.304, 1.02),
        (Loads::Cluster([2, 2]), 1, (64, 96)) => (0.201, 0.848),
        (Loads::Cluster([2, 2]), 1, (64, 80)) => (0.185, 0.81),
        (Loads::Cluster([2, 2]), 1, (48, 64)) => (0.157, 0.549),
        (Loads::Cluster([2, 1]), 2, (128, 256)) => (0.632, 1.64),
        (Loads::Cluster([2, 1]), 2, (128, 192)) => (0.48, 1.42),
        (Loads::Cluster([2, 1]), 2, (160, 256)) => (0.786, 3.93),
        (Loads::Cluster([1, 2]), 2, (160, 256)) => (0.769, 4.26),
        (Loads::Cluster([2, 1]), 4, (128, 256)) => (0.579, 4.13),
        (Loads::Cluster([1, 2]), 4, (256, 128)) => (0.563, 6.75),
        (Loads::Cluster([1, 4]), 4, (128, 128)) => (0.287, 2.34),
        (Loads::Tma, 2, (256, 160)) => (0.788, 4.02),
        (Loads::Tma, 2, (128, 256)) => (0.597, 2.34),
        (Loads::Tma, 2, (128, 192)) => (0.439, 2.22),
        (Loads::Tma, 2, (128, 144)) => (0.316, 3.05),
        (Loads::Tma, 2, (112, 256)) => (0.526, 3.18),
        (Loads::Tma, 2, (144, 256)) => (0.685, 3.93),
        (Loads::Tma, 2, (208, 128)) => (0.485, 2.25),
        (Loads::Tma, 2, (192, 128)) => (0.449, 2.26),
        (Loads::Tma, 2, (176, 128)) => (0.403, 2.03),
        (Loads::Tma, 2, (144, 128)) => (0.325, 1.79),
        (Loads::Tma, 2, (112, 128)) => (0.248, 1.47),
        (Loads::Tma, 2, (96, 128)) => (0.221, 1.34),
        (Loads::Tma, 2, (256, 64)) => (0.382, 1.2),
        (Loads::Tma, 2, (128, 128)) => (0.277, 1.66),
        (Loads::Tma, 2, (160, 64)) => (0.147, 1.95),
        (Loads::Tma, 2, (144, 64)) => (0.137, 1.83),
        (Loads::Tma, 2, (64, 128)) => (0.121, 1.11),
        (Loads::Tma, 2, (96, 64)) => (0.107, 1.2),
        (Loads::Tma, 2, (64, 64)) => (0.145, 1.1),
        (Loads::Tma, 2, (32, 64)) => (0.0838, 0.86),
        (Loads::Tma, 2, (16, 64)) => (0.0858, 0.664),
        (Loads::Tma, 4, (128, 256)) => (0.525, 4.47),
        (Loads::Tma, 4, (256, 128)) => (0.517, 3.71),
        (Loads::Tma, 4, (208, 128)) => (0.425, 3.51),
        (Loads::Tma, 4, (176, 128)) => (0.367, 2.97),
        (Loads::Tma, 4, (144, 128)) => (0.309, 3.1),
        (Loads::Tma, 4, (128, 128)) => (0.278, 2.42),
        (Loads::Tma, 4, (128, 64)) => (0.209, 1.42),
        (Loads::Tma, 4, (64, 128)) => (0.165, 1.89),
        (Loads::Tma, 4, (64, 64)) => (0.241, 1.15),
        (Loads::Tma, 4, (16, 64)) => (0.206, 0.0791),
        (Loads::Tma, 8, (256, 64)) => (1.14, 5.18),
        (Loads::Tma, 8, (256, 32)) => (0.566, 2.63),
        (Loads::Tma, 8, (32, 256)) => (0.55, 1.91),
        (Loads::Threads, 2, (64, 64)) => (1.54, 1.57),
        (Loads::Threads, 2, (128, 64)) => (0.869, 3.27),
        (Loads::Threads, 2, (64, 128)) => (0.961, 3.17),
        (Loads::Threads, 2, (64, 32)) => (0.657, 1.73),
        (Loads::Threads, 2, (32, 256)) => (1.21, 3.41),
        (Loads::Threads, 2, (16, 128)) => (0.776, 2.49),
        (Loads::Threads, 2, (16, 64)) => (1.09, 1.48),
        (Loads::Threads, 2, (16, 16)) => (1.56, 1.6),
        (Loads::Threads, 4, (32, 32)) => (1.8, 1.94),
        (Loads::Threads, 8, (64, 64)) => (1.93, 4.88),
        (Loads::Threads, 8, (64, 32)) => (1.38, 3.56),
        (Loads::Threads, 8, (32, 32)) => (1.34, 3.09),
        // A shape that was not measured.
        (_, _, (rows, columns)) => {
            let area = (rows * columns) as f64 / (128.0 * 256.0);
            (0.15 + 0.55 * area, 0.7 + 3.0 * area)
        }
    }
}

/// The same for a matrix and a vector: for a K-major matrix or another one, and tiles of so many elements of the result.
pub(super) fn costs_of_vector(is_k_major: bool, elements: usize) -> Costs {
    match (is_k_major, elements) {
        (true, 8) => (1.22, 1.81),
        (true, 32) => (1.26, 1.63),
        (false, 8) => (0.864, 2.06),
        (false, 32) => (1.21, 1.71),
        (false, 64) => (1.16, 1.66),
        (false, 256) => (1.06, 1.56),
        // A shape that was not measured.
        _ => (1.3, 2.0),
    }
}

/// The bytes of a row or a column that a k step of a plan multiplies.
pub(super) fn step_bytes(plan: Plan, bytes: usize) -> usize {
    match (plan.loads, bytes, (plan.rows, plan.columns)) {
        (Loads::Threads, 2, (16, 16)) => 512,
        (Loads::Threads, 2, (64, 128 | 32) | (32, 256)) => 32,
        (Loads::Threads, 4, (32, 32)) | (Loads::Threads, 8, (64, 64 | 32)) => 256,
        (Loads::Threads, 8, (32, 32)) => 512,
        (Loads::Vector, _, (rows, columns)) => TILES * tile_elements(bytes) * bytes / (rows * columns),
        _ => STEP_BYTES,
    }
}

/// The most blocks of a plan that share a multiprocessor. Where threads load, their registers are the limit, and those depend on the
/// storage of the operands; for `f64` it is shared memory.
pub(super) fn resident_blocks(problem: &Problem, plan: Plan) -> u32 {
    let [a, b] = problem.read_by_threads();
    let of_storages = match (plan.loads, problem.element_bytes[0], (plan.rows, plan.columns)) {
        (Loads::Threads, 2, (16, 16)) => [5, 5, 4, 4],
        (Loads::Threads, 4, (32, 32)) => [6, 5, 4, 5],
        (Loads::Threads, 2, (16, 64)) => [5; 4],
        (Loads::Threads, 2, (64, 64)) => [4; 4],
        (Loads::Threads, 2, (64, 128) | (32, 256)) => [3; 4],
        (Loads::Threads, 2, (64, 32)) => [10; 4],
        (Loads::Threads, 2, (128, 64) | (16, 128)) => [2; 4],
        (Loads::Threads, 8, (64, 64)) => [2; 4],
        (Loads::Threads, 8, (64, 32)) => [3; 4],
        (Loads::Threads, 8, (32, 32)) => [2; 4],
        // Registers leave room for four blocks, those of 16 bits for five.
        (Loads::Vector, 2, _) => [5; 4],
        _ => [plan.resident_blocks(); 4],
    };
    of_storages[2 * usize::from(a == Major::Column) + usize::from(b == Major::Column)]
}

#[cfg(test)]
mod tests {
    use super::super::plan::Decomposition;
    use super::super::plan::tests::problem;
    use super::*;
    use std::format;

    /// Blocks of 128 threads share the 65,536 registers of a multiprocessor, and blocks of 256 for vectors. `cargo xtask ptx` states what
    /// each kernel takes.
    #[test]
    fn resident_blocks_are_those_that_registers_leave() {
        let stated = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/golden/kernels.json");
        let stated = std::fs::read_to_string(stated).unwrap();
        let registers = |kernel: &str| {
            let (_, kernel) =
                stated.split_once(&format!("\"{kernel}\": {{\n")).unwrap_or_else(|| panic!("{kernel}"));
            let (_, number) = kernel.split_once("\"registers\": ").unwrap();
            number.split([',', '\n']).next().unwrap().parse::<u32>().unwrap()
        };
        let of_rows_and_columns = [Major::Row, Major::Column];
        for (types, bytes, [rows, columns, depth]) in [
            ("f16_f16_f32_f16", 2, [16, 16, 256]),
            ("f16_f16_f32_f16", 2, [16, 64, 64]),
            ("f16_f16_f32_f16", 2, [64, 128, 16]),
            ("bf16_bf16_f32_bf16", 2, [64, 32, 16]),
            ("f16_f16_f32_f16", 2, [32, 256, 16]),
            ("bf16_bf16_f32_bf16", 2, [64, 64, 64]),
            ("tf32_tf32_f32_f32", 4, [32, 32, 64]),
        ] {
            for (order, storages) in ["nn", "nt", "tn", "tt"].into_iter().zip(0..) {
                let [a, b] = [storages / 2, storages % 2].map(|k: usize| of_rows_and_columns[k]);
                let problem =
                    Problem { in_place: Some([a, b]), element_bytes: [bytes; 2], ..problem([1; 4]) };
                let (loads, decomposition) = (Loads::Threads, Decomposition::SplitK(2));
                let plan = Plan { loads, rows, columns, decomposition };
                let shallow = if depth == 16 { "shallow_" } else { "" };
                let kernel = format!("gemm_{shallow}threads_{order}_{types}_{rows}_{columns}_{depth}");
                assert_eq!(resident_blocks(&problem, plan), 65_536 / (128 * registers(&kernel)), "{kernel}");
            }
        }
        for (types, bytes, elements) in [
            ("t_f16_f16_f32_f16", 2, 8),
            ("t_bf16_bf16_f32_bf16", 2, 32),
            ("n_f16_f16_f32_f16", 2, 8),
            ("n_bf16_bf16_f32_bf16", 2, 64),
            ("n_tf32_tf32_f32_f32", 4, 32),
            ("t_f64_f64_f64_f64", 8, 8),
            ("n_f64_f64_f64_f64", 8, 256),
        ] {
            let (loads, decomposition) = (Loads::Vector, Decomposition::DataParallel);
            let plan = Plan { loads, rows: 1, columns: elements, decomposition };
            let kernel = format!("gemm_vector_{types}_{elements}_{}", tile_elements(bytes) / elements);
            let problem = Problem { element_bytes: [bytes; 2], ..problem([1; 4]) };
            assert_eq!(resident_blocks(&problem, plan), 65_536 / (256 * registers(&kernel)), "{kernel}");
        }
    }
}
