//! The launches of a plan.
//!
//! A data-parallel plan is one launch. A split-K plan is a launch that stores partial sums and a second pass that adds them up. A stream-K
//! plan is a data-parallel launch for the full waves and two passes for the last tiles.

use cuda_tiles::element::Element;
use cuda_tiles_host::{Result, Stream, Tensor, TensorView, TensorViewMut, workspace};

use super::multiply::{Candidate, Multiply, Operands, PartialSums, PartialSumsOf};
use super::options::Gemm;
use super::packing::Bits;
use super::plan::{Decomposition, Plan, Problem};
use super::selection::{Available, find, no_kernel};
use crate::gemm::body::ORDER;
use crate::gemm::epilogue::{Scales, Sum};
use crate::gemm::scheduler::TileRange;

/// Rows of partial sums begin at multiples of this many elements. An element has 4 bytes.
const ROW_ELEMENTS: usize = 4;

/// A product to launch: its options, stream, plan, and operands in their storage.
pub(super) struct Launches<'l, T: Element, U: Element, O: Element, C> {
    pub(super) gemm: &'l Gemm<'l, O, C>,
    pub(super) stream: &'l Stream,
    pub(super) problem: &'l Problem,
    pub(super) plan: Plan,
    pub(super) a: TensorView<'l, T, 3>,
    pub(super) b: TensorView<'l, U, 3>,
}

/// A launch that stores partial sums, and the second pass that adds them up.
struct TwoPasses {
    /// The shape of the partial sums: matrices, rows and columns.
    partial_sums: [usize; 3],
    /// The tiles that the first pass computes.
    range: TileRange,
    /// The partial sums that the second pass adds up.
    of: PartialSumsOf,
}

impl<T, U, O, C> Launches<'_, T, U, O, C>
where
    T: Multiply<U, O, Sum = C>,
    U: Element<Bits: Bits>,
    O: Element,
    C: Sum,
{
    /// Makes the launches of the plan.
    pub(super) fn run(&self, available: &Available, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        match self.plan.decomposition {
            Decomposition::DataParallel => self.data_parallel(u32::MAX, c),
            Decomposition::SplitK(splits) => self.split_k(splits.max(1), c),
            Decomposition::StreamK => self.stream_k(available, c),
        }
    }

    /// One launch for the first `whole` tiles.
    fn data_parallel(&self, whole: u32, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let candidate = find(T::DIRECT, self.problem, self.plan)?;
        let range = TileRange::first(whole, self.problem.batches as u32);
        let (a, b, gemm, stream) = (self.a, self.b, self.gemm, self.stream);
        let blocks = self.blocks(self.problem.groups(self.plan));
        gemm.with_bias(stream, |bias| {
            (candidate.launch)(stream, blocks, Operands { a, b, c, bias, scales: gemm.scales(), range })
        })
    }

    /// One launch for `splits` partial sums of every tile, and a second pass.
    fn split_k(&self, splits: u32, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let candidate = find(T::PARTIAL_SUMS, self.problem, self.plan)?;
        let Problem { batches, rows, columns, .. } = *self.problem;
        let blocks = self.blocks(self.problem.groups(self.plan) * splits as usize);
        let passes = TwoPasses {
            partial_sums: [batches * splits as usize, rows, columns],
            range: TileRange::split_k(splits, batches as u32),
            of: PartialSumsOf::SplitK(splits),
        };
        self.run_two_passes(candidate, blocks, passes, c)
    }

    /// A data-parallel launch for the full waves, a launch for the partial sums of the remaining tiles, and a second pass.
    fn stream_k(&self, available: &Available, mut c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let (problem, plan) = (self.problem, self.plan);
        let blocks = self.stream.device().multiprocessors();
        let candidate = find(T::PARTIAL_SUMS, problem, plan)?;
        if !problem.has_stream_k(&candidate.config, &available.direct, blocks) {
            return no_kernel(plan);
        }
        let Problem { batches, rows, columns, depth, .. } = *problem;
        let whole = problem.whole(plan, blocks);
        let steps = depth.div_ceil(candidate.config.depth);
        if whole > 0 {
            self.data_parallel(whole as u32, c.reborrow())?;
        }
        let blocks = problem.stream_k_blocks(plan, steps, blocks);
        // The last tiles are at the end of the result. The second pass skips the matrices and the groups of rows before them, and the columns
        // before them in the last group.
        let (tile_rows, tile_columns) = (rows.div_ceil(plan.rows), columns.div_ceil(plan.columns));
        let group = ORDER.group() as usize;
        let (matrix, within) = (whole / (tile_rows * tile_columns), whole % (tile_rows * tile_columns));
        let is_last = matrix + 1 == batches;
        let row = if is_last { within / (group * tile_columns) * group } else { 0 };
        let height = tile_rows - row;
        let column = if is_last && height <= group { (within - row * tile_columns) / height } else { 0 };
        let before = matrix * tile_rows * tile_columns + row * tile_columns + height * column;
        let passes = TwoPasses {
            partial_sums: [2 * blocks as usize, plan.rows, plan.columns],
            range: TileRange::stream_k(whole as u32, batches as u32),
            of: PartialSumsOf::StreamK {
                range: TileRange::stream_k((whole - before) as u32, batches as u32),
                steps: steps as u32,
                parts: blocks.div_ceil((problem.tiles(plan) - whole) as u32) + 1,
            },
        };
        let c = c.slice(0, matrix..batches)?.slice(1, row * plan.rows..rows)?;
        let c = c.slice(2, column * plan.columns..columns)?;
        self.run_two_passes(candidate, blocks, passes, c)
    }

    /// One launch that stores partial sums, and a second pass that adds them up and stores `c`.
    fn run_two_passes(
        &self,
        candidate: &Candidate<T, U, C, C>,
        blocks: u32,
        passes: TwoPasses,
        c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let (a, b, gemm, stream) = (self.a, self.b, self.gemm, self.stream);
        let TwoPasses { partial_sums: [matrices, rows, columns], range, of } = passes;
        let shape = [matrices, rows, columns.next_multiple_of(ROW_ELEMENTS)];
        workspace::<C, 3, ()>(stream, shape, |mut partial_sums| {
            let none = Tensor::zeros(&stream.device(), [0])?;
            let operands = Operands {
                a,
                b,
                c: partial_sums.reborrow().slice(2, 0..columns)?,
                bias: none.view(),
                scales: Scales::ONE,
                range,
            };
            (candidate.launch)(stream, blocks, operands)?;
            let partial_sums = partial_sums.as_view().slice(2, 0..columns)?;
            gemm.with_bias(stream, |bias| {
                let scales = gemm.scales();
                // `c` has the last columns of the result, if not all. An empty bias stays empty.
                let [.., columns] = c.shape();
                let bias = bias.slice(0, bias.len().saturating_sub(columns)..bias.len())?;
                T::reduce(stream, PartialSums { partial_sums, c, bias, scales, of })
            })
        })
    }

    /// The blocks of a launch, of which a cluster counts as one: as many as the multiprocessors take at once, and at most one for each group of
    /// tiles.
    fn blocks(&self, groups: usize) -> u32 {
        let multiprocessors = self.plan.loads.multiprocessors(self.stream.device().multiprocessors());
        let most = multiprocessors * self.plan.resident_blocks();
        (most as usize / self.plan.loads.cluster_size()).clamp(1, groups.max(1)) as u32
    }
}
