//! The launches of a product, by its plan: one that stores the result, or some whose sums are in parts that a last one adds up.

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Result, Stream, TensorView, TensorViewMut, workspace};

use super::call::{Available, Gemm, find, no_kernel};
use super::multiply::{Candidate, Multiply, Operands, Parts};
use super::packing::Bits;
use super::plan::{Cut, Plan, Problem};
use crate::gemm::body::ORDER;
use crate::gemm::work::Portion;

/// Rows of parts begin at multiples of this many elements, which have 4 bytes.
const PART_ROW: usize = 4;

/// What there is to launch: a product with its options, on a stream, of factors as they are stored.
pub(super) struct Launches<'l, T: Element, U: Element, O: Element, C> {
    pub(super) gemm: &'l Gemm<'l, O, C>,
    pub(super) stream: &'l Stream,
    pub(super) problem: &'l Problem,
    pub(super) plan: Plan,
    pub(super) a: TensorView<'l, T, 3>,
    pub(super) b: TensorView<'l, U, 3>,
}

/// Sums that one launch leaves in memory, and how the next one adds them up.
struct Passes {
    /// How many matrices of sums there are, and their rows and columns.
    sums: [usize; 3],
    /// What the first launch computes.
    portion: Portion,
    /// `whole` and `steps` of the second.
    cut: [u32; 2],
}

impl<T, U, O, C> Launches<'_, T, U, O, C>
where
    T: Multiply<U, O, Sum = C>,
    U: Element<Bits: Bits>,
    O: Element,
    C: Number,
{
    /// Launches what the plan says.
    pub(super) fn run(&self, available: &Available, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        match self.plan.cut {
            Cut::None => self.whole_tiles(u32::MAX, c),
            Cut::Parts(parts) => self.in_parts(parts.max(1), c),
            Cut::LastWave => self.with_last_wave(available, c),
        }
    }

    /// One launch for the `whole` tiles that come first.
    fn whole_tiles(&self, whole: u32, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let candidate = find(T::DIRECT, self.problem, self.plan)?;
        let portion = Portion { splits: 1, whole, batches: self.problem.batches as u32 };
        let (a, b, gemm, stream) = (self.a, self.b, self.gemm, self.stream);
        let blocks = self.blocks(self.problem.tiles(self.plan));
        gemm.with_bias(stream, |bias| {
            let (scales, activation) = ([gemm.alpha, gemm.beta], gemm.activation as u32);
            (candidate.launch)(stream, blocks, Operands { a, b, c, bias, scales, activation, portion })
        })
    }

    /// One launch for parts of the sums, and another that adds them up.
    fn in_parts(&self, splits: u32, c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let candidate = find(T::PARTS, self.problem, self.plan)?;
        let Problem { batches, rows, columns, .. } = *self.problem;
        let blocks = self.blocks(self.problem.tiles(self.plan) * splits as usize);
        let passes = Passes {
            sums: [batches * splits as usize, rows, columns],
            portion: Portion { splits, whole: u32::MAX, batches: batches as u32 },
            cut: [0; 2],
        };
        self.in_passes(candidate, blocks, passes, c)
    }

    /// A launch for the waves that tiles fill, one for the sums of the tiles that are left, cut evenly, and one that adds them up.
    fn with_last_wave(&self, available: &Available, mut c: TensorViewMut<'_, O, 3>) -> Result<()> {
        let (problem, plan) = (self.problem, self.plan);
        let blocks = self.stream.device().multiprocessors();
        let candidate = find(T::PARTS, problem, plan)?;
        if !problem.has_last_wave(&candidate.form, &available.direct, blocks) {
            return no_kernel(plan);
        }
        let Problem { batches, rows, columns, depth, .. } = *problem;
        let whole = problem.whole(plan, blocks);
        if whole > 0 {
            self.whole_tiles(whole as u32, c.reborrow())?;
        }
        // What comes last is at the end: the second pass leaves out the matrices and the bands of rows that have none of it.
        let (down, across) = (rows.div_ceil(plan.rows), columns.div_ceil(plan.columns));
        let band = ORDER.group() as usize;
        let (matrix, within) = (whole / (down * across), whole % (down * across));
        let row = if matrix + 1 == batches { within / (band * across) * band } else { 0 };
        let before = matrix * down * across + row * across;
        let passes = Passes {
            sums: [2 * blocks as usize, plan.rows, plan.columns],
            portion: Portion { splits: 0, whole: whole as u32, batches: batches as u32 },
            cut: [(whole - before) as u32, depth.div_ceil(candidate.form.depth) as u32],
        };
        let c = c.slice(0, matrix..batches)?.slice(1, row * plan.rows..rows)?;
        self.in_passes(candidate, blocks, passes, c)
    }

    /// One launch that stores sums, and another that adds them up in `c`.
    fn in_passes(
        &self,
        candidate: &Candidate<T, U, C, C>,
        blocks: u32,
        passes: Passes,
        c: TensorViewMut<'_, O, 3>,
    ) -> Result<()> {
        let (a, b, gemm, stream) = (self.a, self.b, self.gemm, self.stream);
        let Passes { sums: [matrices, rows, columns], portion, cut: [whole, steps] } = passes;
        let shape = [matrices, rows, columns.next_multiple_of(PART_ROW)];
        workspace::<C, 3, ()>(stream, shape, |mut sums| {
            workspace::<C, 1, ()>(stream, [0], |none| {
                let (bias, c) = (none.as_view(), sums.reborrow().slice(2, 0..columns)?);
                let scales = [C::ONE, C::ZERO];
                (candidate.launch)(stream, blocks, Operands { a, b, c, bias, scales, activation: 0, portion })
            })?;
            let parts = sums.as_view().slice(2, 0..columns)?;
            gemm.with_bias(stream, |bias| {
                let (scales, activation) = ([gemm.alpha, gemm.beta], gemm.activation as u32);
                let cut = [portion.splits, whole, steps];
                T::sum_parts(stream, Parts { parts, c, bias, scales, activation, cut })
            })
        })
    }

    /// As many blocks as work at the same time, or as there are tiles.
    fn blocks(&self, tiles: usize) -> u32 {
        (self.stream.device().multiprocessors() as usize).min(tiles) as u32
    }
}
