//! Accumulators of a k loop, with the fragments that the next product takes.

use crate::arch::TILES_IN_REGISTERS;
use crate::arch::matrix::WARPGROUPS;
use crate::element::{Element, Repack};
use crate::layout::Block;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::SharedMma;
use crate::mma::issue::{each_step, issue, issue_promoted};
use crate::mma::operand::OperandA;
use crate::mma::pair::Pair;
use crate::mma::pair::PairOf;
use crate::mma::types::ProductOf;
use crate::mma::warp::Factors;
use crate::registers::PowerOfTwo;
use crate::shape::{Dimension, Shape};

/// Sums of type `C` and shape `S` to which steps add products of elements `T` and `U`, from
/// [`KLoop::accumulate`](super::KLoop::accumulate).
pub struct Accumulation<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    sums: &'a mut Accumulator<C, S, B>,
    /// The fragments of a product that is still to be added. They were loaded while the product before them was under way, and
    /// so are the first ones of a step while the last product of the step before is.
    ahead: Factors<T, U, C, S, B>,
}

impl<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block> Accumulation<'a, T, U, C, S, B> {
    /// Whether products are put off: where warps multiply for themselves, on fragments in registers of 32 bits.
    const AHEAD: bool = TILES_IN_REGISTERS
        && !WARPGROUPS
        && <T as ProductOf<U, C>>::TENSOR_CORES
        && size_of::<T::Word>() == 4
        && <S::Rows as PowerOfTwo>::COUNT >= 16
        && <S::Columns as PowerOfTwo>::COUNT >= 8
        && <B::Threads as PowerOfTwo>::COUNT >= 32;

    #[inline(always)]
    pub(crate) fn new(sums: &'a mut Accumulator<C, S, B>) -> Self {
        Self { sums, ahead: Factors::zero() }
    }

    /// Adds the product that was put off.
    ///
    /// # Safety
    /// Products are put off: [`AHEAD`](Self::AHEAD).
    #[inline(always)]
    unsafe fn catch_up(&mut self) {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles, as `AHEAD` asks.
        unsafe { self.ahead.multiply::<false>(&mut self.sums.sums) }
    }

    /// Adds what was put off, if anything is.
    #[inline(always)]
    pub(crate) fn finish(mut self) {
        if const { Self::AHEAD } {
            // SAFETY: just asked.
            unsafe { self.catch_up() };
        }
    }
}

impl<T: SharedMma<U, C>, U: Repack, C: Element, M: Dimension, N: Dimension, B: Block>
    Accumulation<'_, T, U, C, (M, N), B>
{
    /// Adds the product of an (M, K) factor, a stage or a tile in registers, and a (K, N) stage, as
    /// [`Accumulator::mma`] does.
    #[inline(always)]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element = T>,
        Y: SharedOperand<'k, K, N, Element = U>,
    {
        let pair = PairOf::new(a, b);
        if const { !Self::AHEAD || !PairOf::<X, Y, C, M, N, K, B>::BY_FRAGMENTS } {
            issue(self.sums, pair);
            return;
        }
        let step = |factors| {
            // SAFETY: products are put off, as just asked.
            unsafe { self.catch_up() };
            self.ahead = factors;
        };
        // SAFETY: warps have a product of fragments of these factors, as just asked.
        unsafe { each_step(pair, step) };
    }

    /// As [`mma`](Self::mma), with sums of all the bits that `C` has: see [`Accumulator::mma_promoted`].
    #[inline(always)]
    pub fn mma_promoted<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element = T>,
        Y: SharedOperand<'k, K, N, Element = U>,
    {
        if const { !<T as SharedMma<U, C>>::SHORT } {
            return self.mma(a, b);
        }
        // What was put off is of this same product, or nothing.
        if const { Self::AHEAD } {
            // SAFETY: just asked.
            unsafe { self.catch_up() };
            self.ahead = Factors::zero();
        }
        issue_promoted(self.sums, PairOf::new(a, b));
    }
}
