//! The model of the time that a plan takes, in microseconds.
//!
//! A product waits for the multiprocessor with the most work, or for the memory. The time of a multiprocessor is linear in its k steps and
//! tiles. The costs of both depend on the tile shape. Packing and second passes add their own launches and bytes.
//!
//! The constants are fitted to measurements of all plans of 352 drawn products on an NVIDIA H200. `benches/products.py --plans` makes such
//! measurements, and `benches/fit.py` fits the constants. The plans with the least estimated time took 3.5 % longer than the fastest plans,
//! in the geometric mean.

use super::plan::{Decomposition, Loads, Machine, Plan, Problem, TileConfig};

/// The start of a launch, for kernels that TMA feeds.
const START: f64 = 2.2;
/// A second pass or a data-parallel launch before it.
const LAUNCH: f64 = 1.6;
/// A launch that packs an operand.
const PACK: f64 = 1.5;
/// A partial sum of a tile, in the second pass.
const PARTIAL_SUM: f64 = 0.13;
/// Bytes of operands that memory moves in a microsecond.
const BANDWIDTH: f64 = 3.8e6;
/// Bytes of the result.
const RESULT_BANDWIDTH: f64 = 1.6e6;
/// Bytes of partial sums.
const PARTIAL_SUMS_BANDWIDTH: f64 = 2.9e6;
/// Bytes of operands for stream-K. Blocks with different k steps of a tile do not share them in the L2 cache.
const STREAM_K_BANDWIDTH: f64 = 5.7e6;
/// The factor of k steps of rows that do not begin at multiples of 128 bytes, for kernels that TMA feeds.
const UNALIGNED_TMA: f64 = 1.1;
/// The factor of k steps of rows that do not begin at multiples of 16 bytes, for kernels whose threads load.
const UNALIGNED_THREADS: f64 = 1.2;
/// The blocks of a kernel whose threads load that share a multiprocessor.
const THREADS_BLOCKS: f64 = 4.0;
/// The factor of k steps without `wgmma`.
const WITHOUT_WGMMA: f64 = 2.0;
/// How sharply the time passes from one bound to the other.
const SHARPNESS: i32 = 4;

/// The bytes of a row or a column that a k step multiplies.
const STEP_BYTES: usize = 128;

/// The costs of a tile shape on one multiprocessor, in microseconds: of a k step, and of a tile besides its k steps.
type Costs = (f64, f64);

/// The costs of tiles of these rows and columns, of operands of so many bytes.
fn costs(loads: Loads, bytes: usize, tile: (usize, usize)) -> Costs {
    match (loads, bytes, tile) {
        (Loads::Tma, 1, (128, 256)) => (0.66, 3.8),
        (Loads::Tma, 1, (128, 128)) => (0.37, 2.1),
        (Loads::Tma, 1, (128, 64)) => (0.27, 1.5),
        (Loads::Tma, 1, (64, 128)) => (0.29, 1.7),
        (Loads::Tma, 1, (64, 64)) => (0.19, 1.6),
        (Loads::Tma, 1, (16, 64)) => (0.16, 0.83),
        (Loads::Tma, 2, (128, 256)) => (0.67, 3.4),
        (Loads::Tma, 2, (128, 128)) => (0.37, 2.0),
        (Loads::Tma, 2, (64, 128)) => (0.21, 1.6),
        (Loads::Tma, 2, (64, 64)) => (0.21, 0.94),
        (Loads::Tma, 2, (32, 64)) => (0.176, 0.79),
        (Loads::Tma, 2, (16, 64)) => (0.149, 0.62),
        (Loads::Tma, 4, (128, 256)) => (0.68, 4.5),
        (Loads::Tma, 4, (256, 128)) => (0.64, 3.1),
        (Loads::Tma, 4, (128, 128)) => (0.41, 2.5),
        (Loads::Tma, 4, (128, 64)) => (0.29, 1.4),
        (Loads::Tma, 4, (64, 128)) => (0.22, 2.9),
        (Loads::Tma, 4, (64, 64)) => (0.22, 1.4),
        (Loads::Tma, 4, (16, 64)) => (0.17, 0.41),
        (Loads::Tma, 8, (256, 64)) => (1.14, 7.2),
        (Loads::Tma, 8, (256, 32)) => (0.755, 2.1),
        (Loads::Threads, 2, (64, 64)) => (1.77, 1.06),
        (Loads::Threads, 2, (16, 64)) => (1.39, 0.62),
        (Loads::Threads, 8, (64, 64)) => (2.1, 0.0),
        (Loads::Threads, 8, (16, 64)) => (1.37, 0.0),
        // A shape that was not measured.
        (_, _, (rows, columns)) => {
            let area = (rows * columns) as f64 / (128.0 * 256.0);
            (0.15 + 0.55 * area, 0.7 + 3.0 * area)
        }
    }
}

/// The plan with the least estimated time.
pub(super) fn best(
    problem: &Problem,
    direct: &[TileConfig],
    partial_sums: &[TileConfig],
    machine: Machine,
) -> Option<Plan> {
    let blocks = match machine {
        Machine::Cpu => 1,
        Machine::Gpu { multiprocessors, .. } => multiprocessors,
    };
    let plans = problem.plans(direct, partial_sums, blocks).into_iter();
    let timed = plans.map(|plan| (microseconds(problem, plan, machine), plan));
    timed.min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, plan)| plan)
}

/// The estimated time of a plan.
fn microseconds(problem: &Problem, plan: Plan, machine: Machine) -> f64 {
    let Machine::Gpu { wgmma, multiprocessors } = machine else { return operations(problem, plan) };
    let [bytes, result_bytes] = problem.element_bytes;
    let (mut step, tile) = costs(plan.loads, bytes, (plan.rows, plan.columns));
    let (start, slots) = match plan.loads {
        Loads::Tma => (START, f64::from(multiprocessors)),
        Loads::Threads => (0.0, f64::from(multiprocessors) * THREADS_BLOCKS),
    };
    step *= match plan.loads {
        Loads::Tma if !problem.is_aligned(STEP_BYTES) => UNALIGNED_TMA,
        Loads::Threads if problem.packed_bytes != [0, 0] => UNALIGNED_THREADS,
        _ => 1.0,
    };
    if !wgmma {
        step *= WITHOUT_WGMMA;
    }
    let (batches, rows, columns) = (problem.batches as f64, problem.rows as f64, problem.columns as f64);
    let depth_bytes = (problem.depth * bytes) as f64;
    let steps = (problem.depth * bytes).div_ceil(STEP_BYTES).max(1) as f64;
    let tiles = problem.tiles(plan) as f64;

    let operands = depth_bytes * (rows + columns) * batches;
    let result = rows * columns * batches;
    let mut memory = operands / BANDWIDTH + result * result_bytes as f64 / RESULT_BANDWIDTH;
    // The time of the multiprocessor with the most work, the other launches, the bytes of partial sums, and the partial sums of a
    // tile.
    let (compute, launches, sums, splits) = match plan.decomposition {
        Decomposition::DataParallel => ((tiles / slots).ceil() * (steps * step + tile), 0.0, 0.0, 0.0),
        Decomposition::SplitK(splits) => {
            let splits = f64::from(splits);
            let compute = (tiles * splits / slots).ceil() * ((steps / splits).ceil() * step + tile);
            (compute, 1.0, 4.0 * result * splits, splits)
        }
        Decomposition::StreamK => {
            let (waves, rest) = ((tiles / slots).floor(), tiles % slots);
            memory = memory.max(rest * (plan.rows + plan.columns) as f64 * depth_bytes / STREAM_K_BANDWIDTH);
            let compute = waves * (steps * step + tile) + (rest * steps / slots).ceil() * step + 2.0 * tile;
            // If the k steps of a block end within a tile, the block stores partial sums of two tiles.
            let sums = 4.0 * (plan.rows * plan.columns) as f64 * (slots + rest).min(2.0 * slots);
            (compute, 1.0 + f64::from(waves > 0.0), sums, slots / rest.max(1.0))
        }
    };
    let bound = (compute.powi(SHARPNESS) + memory.powi(SHARPNESS)).powf(1.0 / f64::from(SHARPNESS));
    let packing: f64 = match plan.loads {
        Loads::Threads => 0.0,
        Loads::Tma => problem.packed_bytes.into_iter().filter(|&bytes| bytes > 0).map(pack).sum(),
    };
    start + bound + packing + launches * LAUNCH + sums / PARTIAL_SUMS_BANDWIDTH + splits * PARTIAL_SUM
}

/// The time to pack an operand of `bytes` bytes.
fn pack(bytes: usize) -> f64 {
    PACK + 2.0 * bytes as f64 / BANDWIDTH
}

/// The multiplications of a plan, including those outside the result at the edges of tiles.
fn operations(problem: &Problem, plan: Plan) -> f64 {
    let passes = if plan.decomposition == Decomposition::DataParallel { 1.0 } else { 2.0 };
    problem.tiles(plan) as f64 * (plan.rows * plan.columns * problem.depth.max(1)) as f64 * passes
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::{TILES, configs, problem};
    use super::*;

    fn best(problem: Problem) -> Plan {
        let tma = [configs(&TILES, Loads::Tma), configs(&[[64, 64]], Loads::Threads)].concat();
        let machine = Machine::Gpu { wgmma: true, multiprocessors: 132 };
        super::best(&problem, &tma, &tma, machine).unwrap()
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
        for rows in [1, 7, 16] {
            assert_eq!(tile([1, rows, 8192, 8192]), [16, 64], "{rows} rows");
        }
        // A deep product of a small result has partial sums.
        let deep = best(problem([1, 128, 128, 100_000]));
        assert!(matches!(deep.decomposition, Decomposition::SplitK(splits) if splits >= 16), "{deep}");
    }

    #[test]
    fn small_operands_that_tma_cannot_read_are_not_packed() {
        let unaligned = Problem { packed_bytes: [100 * 101 * 2; 2], ..problem([1, 100, 100, 101]) };
        assert_eq!(best(unaligned).loads, Loads::Threads);
        let large = Problem { packed_bytes: [5001 * 5001 * 2; 2], ..problem([1, 5001, 5001, 5001]) };
        assert_eq!(best(large).loads, Loads::Tma);
    }
}
