//! Products whose last wave is cut evenly among all blocks.

use cuda_tiles::element::{Element, Number};
use cuda_tiles_host::{Result, Stream, TensorView, TensorViewMut, workspace};

use super::call::{Available, Gemm, find, no_kernel};
use super::multiply::{Multiply, Operands, Parts};
use super::packing::Bits;
use super::plan::{Plan, Problem};
use crate::gemm::body::ORDER;

impl<O: Element, C: Number> Gemm<'_, O, C> {
    /// A launch for the waves that tiles fill, one for the sums of the tiles that are left, cut evenly, and one that adds them up.
    #[allow(clippy::too_many_arguments, reason = "operands, and how to multiply them")]
    pub(super) fn with_last_wave<T, U>(
        &self,
        stream: &Stream,
        problem: &Problem,
        plan: Plan,
        available: &Available,
        a: TensorView<'_, T, 3>,
        b: TensorView<'_, U, 3>,
        mut c: TensorViewMut<'_, O, 3>,
    ) -> Result<()>
    where
        T: Multiply<U, O, Sum = C>,
        U: Element<Bits: Bits>,
    {
        let blocks = stream.device().multiprocessors();
        let candidate = find(T::PARTS, problem, plan)?;
        if !problem.has_last_wave(&candidate.form, &available.direct, blocks) {
            return no_kernel(plan);
        }
        let Problem { batches, rows, columns, depth, .. } = *problem;
        let whole = problem.whole(plan, blocks);
        if whole > 0 {
            let direct = find(T::DIRECT, problem, plan)?;
            self.with_bias(stream, |bias| {
                let (scales, activation) = ([self.alpha, self.beta], self.activation as u32);
                let (c, portion) = (c.reborrow(), [1, whole as u32, batches as u32]);
                (direct.launch)(stream, blocks, Operands { a, b, c, bias, scales, activation, portion })
            })?;
        }
        workspace::<C, 3, ()>(stream, [2 * blocks as usize, plan.rows, plan.columns], |mut slots| {
            workspace::<C, 1, ()>(stream, [0], |none| {
                let (bias, c, scales) = (none.as_view(), slots.reborrow(), [C::ONE, C::ZERO]);
                let portion = [0, whole as u32, batches as u32];
                (candidate.launch)(stream, blocks, Operands { a, b, c, bias, scales, activation: 0, portion })
            })?;
            // What comes last is at the end: the second pass leaves out the matrices and the bands of rows that have none of it.
            let (down, across) = (rows.div_ceil(plan.rows), columns.div_ceil(plan.columns));
            let band = ORDER.group() as usize;
            let (matrix, within) = (whole / (down * across), whole % (down * across));
            let row = if matrix + 1 == batches { within / (band * across) * band } else { 0 };
            let before = matrix * down * across + row * across;
            let (parts, steps) = (slots.as_view(), depth.div_ceil(candidate.form.depth) as u32);
            let c = c.slice(0, matrix..batches)?.slice(1, row * plan.rows..rows)?;
            self.with_bias(stream, |bias| {
                let (scales, activation) = ([self.alpha, self.beta], self.activation as u32);
                let cut = [0, (whole - before) as u32, steps];
                T::sum_parts(stream, Parts { parts, c, bias, scales, activation, cut })
            })
        })
    }
}
