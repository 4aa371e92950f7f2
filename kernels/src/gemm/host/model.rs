//! The model of the time that a plan takes, in microseconds.
//!
//! A product waits for the multiprocessor with the most work, or for the memory. The time of a multiprocessor is linear in its k steps and
//! tiles. The costs of both depend on the tile shape. Packing and second passes add their own launches and bytes.
//!
//! The constants are fitted to measurements of all plans of products on an NVIDIA H200, from those of earlier fits on.
//! `benches/products.py --plans` makes such measurements, and `benches/fit.py` fits the constants. The plans with the least estimated time
//! took 1.9 % longer than the fastest plans of the first 2253 products, in the geometric mean. Later fits:
//!
//! | products | constants |
//! |---|---|
//! | 134 | [`LATENCY`], [`BEHIND_WAVES`], [`CACHE_BANDWIDTH`] (with [`BESIDE_LINES`], so that rows beside lines cost what they did); costs of tiles whose threads load `f16` and `bf16` |
//! | 316 | [`CLUSTER`]; costs of clusters and of 8-bit floats |
//! | 80 each | costs of 8-bit floats with fast accumulation, and of `f64` |
//! | 131 long thin ones | [`SHORT_ROW`], [`ROW_OF_ZEROS`] |
//! | 62 with rows of the result beside words | [`UNALIGNED_RESULT_BESIDE_WORDS`] |
//! | 90 small ones, once transposes stayed in place | [`UNALIGNED`], [`SHORT_PIECES_BANDWIDTH`]; costs of tiles whose threads load |
//! | 501 of all types | [`FOLLOWING_TILE`], and with it the costs of all tiles and most constants |
//! | 153 of a matrix and a vector | [`UNALIGNED_VECTORS`], [`VECTOR_PIECES_BANDWIDTH`], [`costs_of_vector`] |
//! | 632 of 16 bits, 62 of 8-bit floats with promoted sums | costs of tiles that TMA loads |
//! | 312 of `f64` | [`COPIED_BY_ELEMENTS`]; costs of all tiles |
//! | 204 of 16 bits | [`FOLLOWING_WAVE`]; costs of tiles whose threads load |
//! | 109 of 8-bit floats with fast accumulation | costs of their tiles |

use super::multiply::adds_up_rows;
use super::packing::{LINE_BYTES, SECTOR_BYTES, requests_for_a_line};
use super::plan::{Decomposition, Loads, Machine, Major, Plan, Problem};
use super::tile_costs::{FAST, STEP_BYTES, costs, costs_of_vector, resident_blocks, step_bytes};
use crate::gemm::body::keeps;

#[cfg(test)]
mod tests;

/// The start of a launch, for kernels that TMA feeds.
const START: f64 = 2.39;
/// What the blocks of clusters take longer to start and to end, since they wait for each other.
const CLUSTER: f64 = 1.21;
/// A second pass or a data-parallel launch before it.
const LAUNCH: f64 = 2.02;
/// What the launch of stream-K takes longer behind full waves, whose blocks do not end together.
const BEHIND_WAVES: f64 = 11.0;
/// A launch that packs an operand.
const PACK: f64 = 1.09;
/// A partial sum of a tile, in the second pass.
const PARTIAL_SUM: f64 = 0.0202;
/// The same where [a block adds up one row](adds_up_rows).
const PARTIAL_SUM_OF_A_ROW: f64 = 0.004;
/// The part of a tile's costs that each tile behind a block's first one has: a block loads its first stages while it stores the one before.
const FOLLOWING_TILE: f64 = 0.805;
/// The part of the first wave's time that a wave behind it takes, where threads load k steps of a sector: their blocks are short, and those of
/// a wave begin while others of the wave before store.
///
/// *Measured* on an H200: 11258 x 13945 x 18, 48 waves of tiles of 64 x 128, took 220 us. Without this the model says 294.
const FOLLOWING_WAVE: f64 = 0.676;
/// Bytes of operands that memory moves in a microsecond.
const BANDWIDTH: f64 = 3.85e6;
/// Bytes of the result.
const RESULT_BANDWIDTH: f64 = 3.81e6;
/// The same of kernels with producers, where rows of the result begin beside multiples of 16 bytes, and beside multiples of 4 bytes.
const RAGGED_RESULT_BANDWIDTH: f64 = 1.6e6;
const RAGGED_RESULT_BANDWIDTH_BESIDE_WORDS: f64 = 1.3e6;
/// Bytes of partial sums.
const PARTIAL_SUMS_BANDWIDTH: f64 = 2.27e6;
/// Bytes that the L2 cache delivers to a multiprocessor, those that its tiles load, if all of them load.
const CACHE_BANDWIDTH: f64 = 0.102e6;
/// The bytes that it delivers besides for each byte of rows that do not begin at multiples of 128 bytes. Such a row takes two requests.
const BESIDE_LINES: f64 = 1.14;
/// The parts of these costs, and of [`UNALIGNED_ROW`], where rows begin at multiples of 32 bytes, of which a quarter begins at lines, and
/// at multiples of 64 bytes, of which a half does.
const BESIDE_LINES_BY_32: f64 = 0.325;
const BESIDE_LINES_BY_64: f64 = 0.127;
/// Bytes of operands for stream-K. Blocks with different k steps of a tile do not share them in the L2 cache.
const STREAM_K_BANDWIDTH: f64 = 8.51e6;
/// The time of TMA for a row of a k step that does not begin at a multiple of 128 bytes.
const UNALIGNED_ROW: f64 = 0.00116;
/// The time that such a row of each k step takes longer in a tile of a few k steps, where two blocks share a multiprocessor: nothing hides it.
/// The costs of tiles of 8-bit elements have it.
///
/// *Measured* on an H200: 24 x 100000 times a depth of 72 took 15.5 us in tiles of 32 x 64. Without this the model says 10.2.
const UNALIGNED_ROW_OF_FEW_STEPS: f64 = 0.0018;
/// The time that TMA takes longer for a k step of a tile that reaches outside of an operand's rows.
const OUTSIDE: f64 = 0.0444;
/// The time that TMA takes longer for a row of zeros in the last k step of an operand that is not K-major.
const ROW_OF_ZEROS: f64 = 9.99e-4;
/// The time of TMA for a row of a k step, and for a row of zeros: one of a box that is copied, outside of the operand.
const ROW: f64 = 4.69e-4;
const ROW_OUTSIDE: f64 = 0.00113;
/// The time from a request for a line of 128 bytes to the next one, where all blocks load shorter rows.
///
/// *Measured* on an H200: 102400 x 64 times 64 x 8 took 31.6 us in tiles of 64 x 64 where rows had 16 bytes, and 9.5 where the small
/// operand was K-major.
const SHORT_ROW: f64 = 4.32e-4;
/// The time that an element of a tile takes longer whose row of the result does not begin at a multiple of 16 bytes.
const UNALIGNED_RESULT: f64 = 3.35e-5;
/// The factor of it where rows begin beside multiples of 4 bytes, too.
const UNALIGNED_RESULT_BESIDE_WORDS: f64 = 2.0;
/// The time for kernels whose threads load, and rows beside words.
const UNALIGNED_RESULT_OF_THREADS: f64 = 4.88e-5;
/// The part of it where rows begin at multiples of 4 bytes.
const UNALIGNED_RESULT_BY_WORDS: f64 = 0.428;
/// The factor of k steps for each operand whose elements threads load one by one.
const UNALIGNED: f64 = 1.28;
/// The same for each operand of 16 bits that threads copy ahead, by words of 4 bytes.
const COPIED_BY_WORDS: f64 = 1.47;
/// The same for each operand of 64 bits that threads copy ahead, by elements of 8 bytes in place of pieces of 16.
const COPIED_BY_ELEMENTS: f64 = 1.1;
/// The factor of k steps of a matrix whose elements threads load one by one, for products with a vector: of rows that are added up, and of dot
/// products.
const UNALIGNED_VECTORS: f64 = 1.87;
const UNALIGNED_DOTS: f64 = 1.59;
/// Bytes of MN-major operands that threads load for tiles of 16 x 16: pieces of rows of 32 bytes.
const SHORT_PIECES_BANDWIDTH: f64 = 1.44e6;
/// Bytes of sectors that threads load for a vector, of MN-major matrices, by shorter pieces of rows.
const VECTOR_SHORT_PIECES_BANDWIDTH: f64 = 2.04e6;
/// Bytes of MN-major matrices that threads load for a vector by pieces of rows of one sector or two.
const VECTOR_PIECES_BANDWIDTH: f64 = 4.09e6;
/// The share of a tile's time that remains if no other block shares the multiprocessor.
const ALONE: f64 = 0.644;
/// Bytes of operands that memory moves to a multiprocessor.
const SM_BANDWIDTH: f64 = 0.115e6;
/// The time from the request for a stage of a ring to its bytes. A block has requests for a ring under way, and no more.
const LATENCY: f64 = 0.865;
/// The factor of k steps without `wgmma`.
const WITHOUT_WGMMA: f64 = 2.0;
/// The least time of a k step without `wgmma`, for each element of a tile that is smaller than the largest ones: that of tiles of 128 x 128
/// in the fits before the producers' loops were shortened, which code without `wgmma` does not have.
const PRODUCTS_WITHOUT_WGMMA: f64 = 4.3e-5;
/// The part of the memory's time that is left where an operand stays: the L2 cache serves the requests for the other one alone.
const BESIDE_WHAT_STAYS: f64 = 0.88;
/// The factor of the memory's time for tiles of 16 rows or columns that TMA loads.
///
/// *Measured* on an H200: tiles of 32 x 64 take 0 to 3 % less time for up to 16 rows by large weights.
const NARROW: f64 = 1.02;
/// How sharply the time passes from one bound to the other.
const SHARPNESS: i32 = 4;

/// The rows or columns that one TMA instruction copies. What lies outside of an operand by that much is not copied.
const BOX_ROWS: usize = 64;
/// The bytes that a thread or TMA stores at once.
const GRANULE: usize = 16;
/// The elements of the largest tiles.
const LARGEST_TILE: usize = 128 * 256;
/// The bytes of a multiprocessor's shared memory that rings share.
const RING_BYTES: usize = 194 * 1024;
/// The most k steps of a tile that are few.
const FEW_STEPS: f64 = 4.0;
/// The most stages of a ring.
const MOST_STAGES: usize = 12;

/// The factors of k steps of operands A and B, where threads load the elements of some one by one, or copy them in small pieces.
fn one_by_one(problem: &Problem, plan: Plan) -> [f64; 2] {
    // Threads copy `f64`, and 16 bits in tiles of these two shapes, ahead. They load others to registers.
    let (factor, of_operands) = match (problem.element_bytes[0], plan.rows, plan.columns) {
        (8, ..) => (COPIED_BY_ELEMENTS, problem.beside_chunks),
        (2, 128, 64) | (2, 16, 128) => (COPIED_BY_WORDS, problem.beside_chunks),
        _ => (UNALIGNED, problem.one_by_one),
    };
    of_operands.map(|is| if is { factor } else { 1.0 })
}

/// Whether the matrix of a plan for a vector is K-major: each element of the result is the dot product of a row and the vector.
fn is_of_dots(problem: &Problem, plan: Plan) -> bool {
    let [a, b] = problem.read_by_threads();
    if plan.rows == 1 { b == Major::Column } else { a == Major::Row }
}

/// The factor of the time that threads take to load the elements of a k step.
fn slower(problem: &Problem, plan: Plan) -> f64 {
    match plan.loads {
        Loads::Tma | Loads::Cluster(_) => 1.0,
        Loads::Threads => one_by_one(problem, plan).into_iter().product(),
        Loads::Vector => {
            // The matrix is the operand that is not a vector. Threads load four neighbours of rows that are added up, and two of dot products.
            let matrix = usize::from(plan.rows == 1);
            match is_of_dots(problem, plan) {
                true if !problem.in_words[matrix] => UNALIGNED_DOTS,
                false if problem.one_by_one[matrix] && problem.element_bytes[0] < 8 => UNALIGNED_VECTORS,
                _ => 1.0,
            }
        }
    }
}

/// The plan with the least estimated time.
pub(super) fn fastest(
    problem: &Problem,
    plans: impl IntoIterator<Item = Plan>,
    machine: Machine,
) -> Option<Plan> {
    let timed = plans.into_iter().map(|plan| (microseconds(problem, plan, machine), plan));
    timed.min_by(|x, y| x.0.total_cmp(&y.0)).map(|(_, plan)| plan)
}

/// The estimated time of a plan.
fn microseconds(problem: &Problem, plan: Plan, machine: Machine) -> f64 {
    let Machine::Gpu { wgmma, multiprocessors } = machine else { return operations(problem, plan) };
    let [bytes, result_bytes] = problem.element_bytes;
    let of_costs = if problem.fast { FAST } else { bytes };
    let (mut step, mut tile) = match plan.loads {
        Loads::Vector => costs_of_vector(is_of_dots(problem, plan), plan.rows.max(plan.columns)),
        loads => costs(loads, of_costs, (plan.rows, plan.columns)),
    };
    let multiprocessors = f64::from(plan.loads.multiprocessors(multiprocessors));
    let resident = f64::from(resident_blocks(problem, plan));
    let usual = f64::from(plan.resident_blocks());
    step *= slower(problem, plan);
    // What the first tile of a block costs more than the tiles that follow.
    let first = if plan.loads.is_by_tma() { (1.0 - FOLLOWING_TILE) * tile } else { 0.0 };
    tile -= first;
    let slots = multiprocessors * resident;
    let stays = stay(problem, plan, wgmma);
    // What a k step takes longer if its tile has few.
    let mut of_few_steps = 0.0;
    if plan.loads.is_by_tma() {
        let [of_a, of_b] = tile_alignment(problem, plan).map(beside_lines);
        // The blocks of a row of a cluster load rows together, those of a column columns.
        let [blocks_down, blocks_across] = plan.loads.cluster();
        let rows = of_a * (plan.rows / blocks_across) as f64 + of_b * (plan.columns / blocks_down) as f64;
        step = larger(step, UNALIGNED_ROW * usual * rows);
        of_few_steps =
            if usual == 2.0 && bytes > 1 { UNALIGNED_ROW_OF_FEW_STEPS * usual * rows } else { 0.0 };
        step = larger(step, usual * copying(problem, plan, slots, stays));
    }
    if !wgmma {
        let area = usual * (plan.rows * plan.columns) as f64;
        let is_largest = plan.rows * plan.columns >= LARGEST_TILE;
        step = (WITHOUT_WGMMA * step).max(if is_largest { 0.0 } else { PRODUCTS_WITHOUT_WGMMA * area });
    }
    // The time of the multiprocessor with the most tiles, each of which takes `one` where the multiprocessor has the usual number of blocks.
    let share =
        |blocks: f64| if usual > 1.0 { ALONE + (1.0 - ALONE) * (blocks - 1.0) / (usual - 1.0) } else { 1.0 };
    // A block waits for the bytes of its k steps, too, as often as they fill a ring.
    let ring_of_step = match plan.loads.is_by_tma() {
        true => ((plan.rows + plan.columns) * STEP_BYTES) as f64 * usual / RING_BYTES as f64,
        false => 0.0,
    };
    let waves = |tiles: f64, one: f64, steps: f64| {
        let (full, rest) = ((tiles / slots).floor(), tiles % slots);
        let wave = |blocks: f64| larger(share(blocks) * one, LATENCY * steps * ring_of_step);
        let last = if rest > 0.0 { wave((rest / multiprocessors).ceil()) } else { 0.0 };
        let all_waves = if full > 0.0 && loads_sectors(plan, bytes) {
            wave(resident) + FOLLOWING_WAVE * ((full - 1.0) * wave(resident) + last)
        } else {
            full * wave(resident) + last
        };
        first * share((tiles / multiprocessors).ceil().min(resident)) + all_waves
    };
    let (batches, rows, columns) = (problem.batches as f64, problem.rows as f64, problem.columns as f64);
    let depth_bytes = (problem.depth * bytes) as f64;
    let steps = (problem.depth * bytes).div_ceil(step_bytes(plan, bytes)).max(1) as f64;
    // The last cluster may have a block without a tile.
    let tiles = (problem.groups(plan) * plan.loads.cluster_size()) as f64;

    let operands = depth_bytes * (rows + columns) * batches;
    let result = rows * columns * batches;
    // Partial sums of split-K have rows of their own.
    let is_split = matches!(plan.decomposition, Decomposition::SplitK(_));
    let is_ragged = !is_split && !(problem.columns * result_bytes).is_multiple_of(GRANULE);
    let is_by_words = (problem.columns * result_bytes).is_multiple_of(4);
    let result_bandwidth = match plan.loads.is_by_tma() && is_ragged {
        true if is_by_words => RAGGED_RESULT_BANDWIDTH,
        true => RAGGED_RESULT_BANDWIDTH_BESIDE_WORDS,
        false => RESULT_BANDWIDTH,
    };
    let mut memory = operands / BANDWIDTH + result * result_bytes as f64 / result_bandwidth;
    if plan.loads.is_by_tma() {
        let delivered = loaded_bytes(problem, plan, steps, stays) / CACHE_BANDWIDTH;
        memory = larger(memory, delivered / multiprocessors);
        if stays.contains(&true) {
            memory *= BESIDE_WHAT_STAYS;
        }
        if plan.rows.min(plan.columns) == 16 {
            memory *= NARROW;
        }
        tile += OUTSIDE * usual * steps_outside(problem, plan, steps, stays);
        tile += ROW_OF_ZEROS * usual * rows_of_zeros(problem, plan, stays) as f64;
    } else {
        memory = larger(memory, short_pieces(problem, plan));
    }
    if is_ragged {
        let element = match plan.loads {
            Loads::Tma | Loads::Cluster(_) if is_by_words => UNALIGNED_RESULT,
            Loads::Tma | Loads::Cluster(_) => UNALIGNED_RESULT_BESIDE_WORDS * UNALIGNED_RESULT,
            Loads::Threads if is_by_words => UNALIGNED_RESULT_BY_WORDS * UNALIGNED_RESULT_OF_THREADS,
            Loads::Threads | Loads::Vector => UNALIGNED_RESULT_OF_THREADS,
        };
        tile += element * usual * (plan.rows * plan.columns) as f64;
    }
    // The time of the multiprocessor with the most work, the other launches, the bytes of partial sums, and the partial sums of a
    // tile.
    let one = |steps: f64, tiles: f64| {
        let longer = if steps <= FEW_STEPS { steps * of_few_steps } else { 0.0 };
        larger(steps * step + tile + longer, usual * operands / tiles / SM_BANDWIDTH)
    };
    // Memory is not busy while the tiles that are left after the last full wave wait for what it moves to their few multiprocessors.
    let unused = |tiles: f64| {
        let (rest, each) = (tiles % slots, operands / tiles);
        let last = (rest / multiprocessors).ceil() * each / SM_BANDWIDTH;
        if tiles > slots { (last - rest * each / BANDWIDTH).max(0.0) } else { 0.0 }
    };
    memory += match plan.decomposition {
        Decomposition::DataParallel => unused(tiles),
        Decomposition::SplitK(splits) => unused(tiles * f64::from(splits)),
        Decomposition::StreamK => 0.0,
    };
    let (compute, launches, sums, adding) = match plan.decomposition {
        Decomposition::DataParallel => (waves(tiles, one(steps, tiles), steps), 0.0, 0.0, 0.0),
        Decomposition::SplitK(splits) => {
            let shape = [problem.batches, problem.rows, problem.columns];
            let each = if adds_up_rows(shape, splits) { PARTIAL_SUM_OF_A_ROW } else { PARTIAL_SUM };
            let splits = f64::from(splits);
            let steps = (steps / splits).ceil();
            let compute = waves(tiles * splits, one(steps, tiles * splits), steps);
            (compute, 1.0, bytes.max(4) as f64 * result * splits, splits * each)
        }
        Decomposition::StreamK => {
            let (full, rest) = ((tiles / multiprocessors).floor(), tiles % multiprocessors);
            let again = rest * (plan.rows + plan.columns) as f64 * depth_bytes;
            let sharing = f64::from(problem.stream_k_blocks(plan, steps as usize, multiprocessors as u32));
            let last_steps = (rest * steps / sharing).ceil();
            let last = waves(sharing, last_steps * step + 2.0 * tile + first, last_steps);
            let last = larger(last, again / STREAM_K_BANDWIDTH);
            // Full waves are a launch of their own.
            let (before, launches) = match full > 0.0 {
                true => (waves(full * multiprocessors, one(steps, tiles), steps) + BEHIND_WAVES, 1.0),
                false => (0.0, 0.0),
            };
            // If the k steps of a block end within a tile, the block stores partial sums of two tiles.
            let slots = (sharing + rest).min(2.0 * sharing);
            let sums = 4.0 * (plan.rows * plan.columns) as f64 * slots;
            (before + last, 1.0 + launches, sums, sharing / rest.max(1.0) * PARTIAL_SUM)
        }
    };
    let bound = larger(compute, memory);
    let packing: f64 = match plan.loads {
        Loads::Threads | Loads::Vector => 0.0,
        Loads::Tma | Loads::Cluster(_) => {
            problem.packed_bytes.into_iter().filter(|&bytes| bytes > 0).map(pack).sum()
        }
    };
    let short_rows =
        if plan.loads.is_by_tma() { SHORT_ROW * short_rows(problem, plan, slots, stays) } else { 0.0 };
    let start = match plan.loads {
        Loads::Tma => START,
        Loads::Cluster(_) => START + CLUSTER,
        Loads::Threads | Loads::Vector => 0.0,
    };
    start + bound + short_rows + packing + launches * LAUNCH + sums / PARTIAL_SUMS_BANDWIDTH + adding
}

/// The k steps of a product whose operands TMA loads.
fn steps_by_tma(problem: &Problem) -> usize {
    (problem.depth * problem.element_bytes[0]).div_ceil(STEP_BYTES).max(1)
}

/// The stages of a plan's ring.
fn stages(plan: Plan) -> usize {
    let stage = (plan.rows + plan.columns) * STEP_BYTES;
    (RING_BYTES / plan.resident_blocks() as usize / stage).clamp(2, MOST_STAGES)
}

/// Whether blocks load operands A and B in their first tiles alone.
fn stay(problem: &Problem, plan: Plan, wgmma: bool) -> [bool; 2] {
    let may = wgmma
        && plan.decomposition == Decomposition::DataParallel
        && keeps(plan.rows, plan.columns, problem.element_bytes[1])
        && problem.batches == 1
        && steps_by_tma(problem) <= stages(plan);
    [may && problem.rows <= plan.rows, may && problem.columns <= plan.columns]
}

/// The requests for a line of operands that all blocks load by rows of less than a line.
fn short_rows(problem: &Problem, plan: Plan, slots: f64, stays: [bool; 2]) -> f64 {
    let [blocks_down, blocks_across] = plan.loads.cluster();
    // An operand that stays is in each stage.
    let loops = (stages(plan) / steps_by_tma(problem)) as f64;
    let of = |index: usize, row: usize, tiles: usize, sharing: usize| {
        let (row, tiles) = (row * problem.element_bytes[0], tiles as f64);
        let loads = if stays[index] { tiles.min(slots * loops) } else { tiles / sharing as f64 };
        let is_short = (1..LINE_BYTES).contains(&row) && problem.packed_bytes[index] == 0;
        if is_short { requests_for_a_line(row, problem.row_alignment[index], loads) } else { 0.0 }
    };
    let row_of_a = if problem.a == Major::Row { problem.depth } else { problem.rows };
    let row_of_b = if problem.b == Major::Row { problem.columns } else { problem.depth };
    of(0, row_of_a, problem.columns.div_ceil(plan.columns), blocks_across)
        + of(1, row_of_b, problem.rows.div_ceil(plan.rows), blocks_down)
}

/// The part of the costs of rows beside lines that operands have whose rows begin at multiples of so many bytes.
fn beside_lines(alignment: usize) -> f64 {
    match alignment {
        128.. => 0.0,
        64.. => BESIDE_LINES_BY_64,
        32.. => BESIDE_LINES_BY_32,
        _ => 1.0,
    }
}

/// The bytes at whose multiples the rows of operands A and B begin in a tile. Tiles of an operand that is not K-major lie side by side.
fn tile_alignment(problem: &Problem, plan: Plan) -> [usize; 2] {
    let [a, b] = problem.row_alignment;
    let of_tile =
        |side: usize, of_rows: usize| of_rows.min(1 << (side * problem.element_bytes[0]).trailing_zeros());
    [
        if problem.a == Major::Column { of_tile(plan.rows, a) } else { a },
        if problem.b == Major::Row { of_tile(plan.columns, b) } else { b },
    ]
}

/// The time of TMA for a k step: of the tiles at the end of an operand if there is a tile for each of `slots`, and else on average.
///
/// *Measured* on an H200: where a box has 50 rows outside, they are zeros, which come from no memory and take TMA longer than rows that do:
/// 4096 x 4096 times 142 rows took 17.9 us in tiles of 64 x 128, times 128 and 192 rows 15.0 and 15.6.
fn copying(problem: &Problem, plan: Plan, slots: f64, [a_stays, b_stays]: [bool; 2]) -> f64 {
    let splits = if let Decomposition::SplitK(splits) = plan.decomposition { splits as usize } else { 1 };
    let has_waves = (problem.groups(plan) * plan.loads.cluster_size() * splits) as f64 > slots;
    let of = |is_k_major: bool, length: usize, tile: usize| {
        let tiles = length.div_ceil(tile).max(1);
        let has_zeros = is_k_major && !has_last_boxes(plan);
        let outside = if has_zeros { length.next_multiple_of(box_rows(tile)) - length } else { 0 };
        let time = |rows: usize, outside: usize| ROW * rows as f64 + ROW_OUTSIDE * outside as f64;
        match has_waves {
            true => time(length, outside) / tiles as f64,
            false => time(length.min(tile), 0).max(time(length - (tiles - 1) * tile, outside)),
        }
    };
    let of_a = if a_stays { 0.0 } else { of(problem.a == Major::Row, problem.rows, plan.rows) };
    of_a + if b_stays { 0.0 } else { of(problem.b == Major::Column, problem.columns, plan.columns) }
}

/// Whether the plan's kernel loads no rows outside of operands: one of a consumer warpgroup, without a cluster.
fn has_last_boxes(plan: Plan) -> bool {
    plan.loads == Loads::Tma && (plan.rows <= 64 || plan.columns <= 64 && !plan.rows.is_multiple_of(128))
}

/// The rows of a box of TMA, of tiles of so many rows of a K-major operand: [`TmaLoad::BOX`](cuda_tiles::memory::TmaLoad::BOX).
fn box_rows(rows: usize) -> usize {
    if rows <= BOX_ROWS {
        return rows;
    }
    let divisors = (BOX_ROWS / 2..=BOX_ROWS).rev().step_by(8);
    divisors.into_iter().find(|&most| rows.is_multiple_of(most)).unwrap_or(rows / 2)
}

/// The bytes of operands that the L2 cache delivers if all tiles have so many k steps, but for boxes that lie outside and operands that stay.
fn loaded_bytes(problem: &Problem, plan: Plan, steps: f64, [a_stays, b_stays]: [bool; 2]) -> f64 {
    let [blocks_down, blocks_across] = plan.loads.cluster();
    // The rows or columns of an operand, those of boxes that tiles share or that reach outside included.
    let of_boxes = |is_k_major: bool, length: usize, tile: usize| {
        if is_k_major {
            return length.next_multiple_of(if has_last_boxes(plan) { 1 } else { box_rows(tile) });
        }
        let side = BOX_ROWS.min(tile);
        (length / tile * tile.div_ceil(side) + (length % tile).div_ceil(side)) * side
    };
    let rows = of_boxes(problem.a == Major::Row, problem.rows, plan.rows)
        * problem.columns.div_ceil(plan.columns * blocks_across);
    let columns = of_boxes(problem.b == Major::Column, problem.columns, plan.columns)
        * problem.rows.div_ceil(plan.rows * blocks_down);
    let delivered = |rows: usize, stays, alignment| {
        if stays { 0.0 } else { (1.0 + BESIDE_LINES * beside_lines(alignment)) * rows as f64 }
    };
    let [of_a, of_b] = tile_alignment(problem, plan);
    let rows = delivered(rows, a_stays, of_a) + delivered(columns, b_stays, of_b);
    rows * problem.batches as f64 * steps * STEP_BYTES as f64
}

/// Whether threads load k steps of a sector.
fn loads_sectors(plan: Plan, bytes: usize) -> bool {
    plan.loads == Loads::Threads && step_bytes(plan, bytes) == SECTOR_BYTES
}

/// The time that memory takes for operands of which threads load short pieces of rows: of MN-major rows, and of K-major ones that are longer
/// than a line, in k steps of a sector.
fn short_pieces(problem: &Problem, plan: Plan) -> f64 {
    let [a, b] = problem.read_by_threads();
    let bytes = problem.element_bytes[0];
    let of = |elements: usize| (elements * problem.batches * problem.depth * bytes) as f64;
    match (plan.loads, plan.rows, plan.columns) {
        (Loads::Vector, rows, columns) if !is_of_dots(problem, plan) => {
            let (matrix, piece) = (of(problem.rows.max(problem.columns)), rows.max(columns) * bytes);
            if piece < SECTOR_BYTES {
                // A piece costs as much as a sector.
                matrix * (SECTOR_BYTES / piece) as f64 / VECTOR_SHORT_PIECES_BANDWIDTH
            } else if piece <= 2 * SECTOR_BYTES {
                matrix / VECTOR_PIECES_BANDWIDTH
            } else {
                0.0
            }
        }
        (Loads::Threads, 16, 16) => {
            let of_a =
                if a == Major::Column { problem.rows * problem.columns.div_ceil(plan.columns) } else { 0 };
            let of_b = if b == Major::Row { problem.columns * problem.rows.div_ceil(plan.rows) } else { 0 };
            let [a_factor, b_factor] = one_by_one(problem, plan);
            of(of_a + of_b) * a_factor.max(b_factor) / SHORT_PIECES_BANDWIDTH
        }
        _ if loads_sectors(plan, bytes) && problem.depth * bytes > STEP_BYTES => {
            let of_a = if a == Major::Row { problem.rows } else { 0 };
            let of_b = if b == Major::Column { problem.columns } else { 0 };
            of(of_a + of_b) / SHORT_PIECES_BANDWIDTH
        }
        _ => 0.0,
    }
}

/// The number of k steps that reach outside of an operand's rows, of those that a block accumulates for a tile of `steps`, on average.
///
/// The rows of an operand that is K-major end with the last k step. Other rows end with the last tile, which has all k steps. Stream-K
/// has so many k steps that this does not matter.
fn steps_outside(problem: &Problem, plan: Plan, steps: f64, [a_stays, b_stays]: [bool; 2]) -> f64 {
    let depth = STEP_BYTES / problem.element_bytes[0];
    let steps = match plan.decomposition {
        Decomposition::DataParallel => steps,
        Decomposition::SplitK(splits) => (steps / f64::from(splits)).ceil(),
        Decomposition::StreamK => return 0.0,
    };
    let at_an_end = |major, length: usize, tile: usize| match major {
        Major::Row => f64::from(!problem.depth.is_multiple_of(depth)),
        Major::Column if length.is_multiple_of(tile.min(BOX_ROWS)) => 0.0,
        Major::Column => steps / length.div_ceil(tile) as f64,
    };
    let b = if problem.b == Major::Row { Major::Column } else { Major::Row };
    let of_a = if a_stays { 0.0 } else { at_an_end(problem.a, problem.rows, plan.rows) };
    of_a.max(if b_stays { 0.0 } else { at_an_end(b, problem.columns, plan.columns) })
}

/// The rows of zeros that TMA sets in the last k step of a tile, for operands that are not K-major: a box has as many rows as a k step.
/// Partial sums have so many k steps that this does not matter.
fn rows_of_zeros(problem: &Problem, plan: Plan, [a_stays, b_stays]: [bool; 2]) -> usize {
    if plan.decomposition != Decomposition::DataParallel {
        return 0;
    }
    // A box has as many columns, too.
    let depth = STEP_BYTES / problem.element_bytes[0];
    let boxes = |is_loaded, tile: usize| if is_loaded { tile.div_ceil(depth) } else { 0 };
    let of_a = boxes(problem.a == Major::Column && !a_stays, plan.rows);
    let of_b = boxes(problem.b == Major::Row && !b_stays, plan.columns);
    (of_a + of_b) * (problem.depth.next_multiple_of(depth) - problem.depth)
}

/// The larger one of two times that overlap. Where both are alike, they hinder each other.
fn larger(x: f64, y: f64) -> f64 {
    (x.powi(SHARPNESS) + y.powi(SHARPNESS)).powf(1.0 / f64::from(SHARPNESS))
}

/// The time to pack an operand of `bytes` bytes.
fn pack(bytes: usize) -> f64 {
    PACK + 2.0 * bytes as f64 / BANDWIDTH
}

/// The multiplications of a plan without `wgmma`, including those outside the result at the edges of tiles and in padded columns.
fn operations(problem: &Problem, plan: Plan) -> f64 {
    let passes = if plan.decomposition == Decomposition::DataParallel { 1.0 } else { 2.0 };
    let columns = plan.columns.next_power_of_two();
    problem.tiles(plan) as f64 * (plan.rows * columns * problem.depth.max(1)) as f64 * passes
}
