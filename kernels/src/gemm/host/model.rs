//! The model of the time that a plan takes, in microseconds.
//!
//! A product is bound by the multiprocessor with the most work, or by the memory. The time of a multiprocessor is linear in its k steps and
//! tiles. Their costs depend on the tile shape. Packing and second passes add their own launches and bytes.
//!
//! `benches/fit.py` fits the numbers to measurements of all plans of drawn products.

use super::plan::{Decomposition, Loads, Machine, Plan, Problem};

/// The costs of one tile shape on one multiprocessor, in microseconds.
#[derive(Clone, Copy)]
struct Costs {
    /// A k step: 128 bytes of each row of operand A and of each column of operand B.
    step: f64,
    /// A tile, besides its k steps.
    tile: f64,
    /// The blocks that share a multiprocessor.
    blocks: f64,
}

/// The bytes of a row or a column that a k step multiplies.
const STEP_BYTES: usize = 128;

/// The estimated time of a plan.
pub(super) fn microseconds(problem: &Problem, plan: Plan, machine: Machine) -> f64 {
    let Machine::Gpu { wgmma, multiprocessors } = machine else { return operations(problem, plan) };
    let Costs { step, tile, blocks } = costs(plan, wgmma);
    let [operand, result] = problem.element_bytes.map(|bytes| bytes as f64);
    let (batches, rows, columns) = (problem.batches as f64, problem.rows as f64, problem.columns as f64);
    let steps = (problem.depth * problem.element_bytes[0]).div_ceil(STEP_BYTES).max(1) as f64;
    let slots = f64::from(multiprocessors) * blocks;
    let tiles = problem.tiles(plan) as f64;
    let area = (plan.rows * plan.columns) as f64;

    // The time of the multiprocessor with the most work, and the bytes of partial sums.
    let (compute, partial_sums, launches) = match plan.decomposition {
        Decomposition::DataParallel => ((tiles / slots).ceil() * (steps * step + tile), 0.0, 0.0),
        Decomposition::SplitK(splits) => {
            let splits = f64::from(splits);
            let waves = (tiles * splits / slots).ceil();
            let sums = 4.0 * rows * columns * batches * splits;
            (waves * ((steps / splits).ceil() * step + tile), sums, 1.0)
        }
        Decomposition::StreamK => {
            let (waves, rest) = ((tiles / slots).floor(), tiles % slots);
            // If the k steps of a block end within a tile, the block stores partial sums of two tiles.
            let sums = 4.0 * area * (slots + rest).min(2.0 * slots);
            let time = waves * (steps * step + tile) + (rest * steps / slots).ceil() * step + 2.0 * tile;
            (time, sums, 1.0 + f64::from(waves > 0.0))
        }
    };

    // Blocks that run at the same time share their rows and columns in the L2 cache. So the memory is read once, and again for each wave.
    let once = problem.depth as f64 * (rows + columns) * batches * operand + rows * columns * batches * result;
    let memory = once / BANDWIDTH;
    let bound = (compute.powi(SHARPNESS) + memory.powi(SHARPNESS)).powf(1.0 / f64::from(SHARPNESS));

    let packing = match plan.loads {
        Loads::Threads => 0.0,
        Loads::Tma => problem.packed_bytes.iter().filter(|&&bytes| bytes > 0).map(|&bytes| pack(bytes)).sum(),
    };
    START + bound + packing + launches * LAUNCH + partial_sums / PARTIAL_BANDWIDTH
}

/// The time to pack an operand of `bytes` bytes.
fn pack(bytes: usize) -> f64 {
    LAUNCH + 2.0 * bytes as f64 / BANDWIDTH
}

/// The start of a launch.
const START: f64 = 2.0;
/// Another launch.
const LAUNCH: f64 = 2.5;
/// Bytes that global memory moves in a microsecond.
const BANDWIDTH: f64 = 3.9e6;
/// Bytes of partial sums that are written and read again in a microsecond.
const PARTIAL_BANDWIDTH: f64 = 2.5e6;
/// How sharply the time passes from one bound to the other.
const SHARPNESS: i32 = 4;

/// The costs of a plan's tiles.
fn costs(plan: Plan, wgmma: bool) -> Costs {
    let area = (plan.rows * plan.columns) as f64 / 32768.0;
    if plan.loads == Loads::Threads {
        return Costs { step: 0.3 + 4.0 * area, tile: 1.5, blocks: 4.0 };
    }
    let (step, tile) = match (plan.rows, plan.columns) {
        (128, 256) | (256, 128) => (0.71, 2.0),
        (128, 128) => (0.40, 1.2),
        (128, 64) | (64, 128) => (0.25, 1.0),
        (64, 64) => (0.18, 0.8),
        _ => (0.15 + 0.3 * area, 0.8),
    };
    Costs { step: if wgmma { step } else { 2.0 * step }, tile, blocks: 1.0 }
}

/// The multiplications of a plan, including those outside the result at the edges of tiles.
fn operations(problem: &Problem, plan: Plan) -> f64 {
    let passes = if plan.decomposition == Decomposition::DataParallel { 1.0 } else { 2.0 };
    problem.tiles(plan) as f64 * (plan.rows * plan.columns * problem.depth.max(1)) as f64 * passes
}
