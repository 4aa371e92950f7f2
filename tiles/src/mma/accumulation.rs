//! Accumulators of a k loop, with the fragments of the next multiplication.

use crate::arch::TILES_IN_REGISTERS;
use crate::arch::matrix::WARPGROUPS;
use crate::element::{Element, Repack};
use crate::layout::Block;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::accumulator::{Accumulator, unset};
use crate::mma::instructions::SharedMma;
use crate::mma::issue::{each_step, issue, issue_promoted};
use crate::mma::operand::OperandA;
use crate::mma::pair::{Pair, PairOf};
use crate::mma::promoted::{ProductRegisters, add_the_last_one, add_the_one_before, lags, start_alone};
use crate::mma::types::ProductOf;
use crate::mma::warp::OperandFragments;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Dimension, Shape};

/// Accumulators of type `C` and shape `S`, to which the steps of a k loop add products of elements `T` and `U`, from
/// [`KLoop::accumulate`](crate::pipeline::KLoop::accumulate).
pub struct Accumulation<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    acc: &'a mut Accumulator<C, S, B>,
    /// The fragments of a multiplication that is still to be done. They were loaded while the multiplication before was under
    /// way. The first fragments of a step are loaded while the last multiplication of the step before is under way.
    ahead: OperandFragments<T, U, C, S, B>,
}

impl<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block> Accumulation<'a, T, U, C, S, B> {
    /// Whether multiplications lag one behind their loads: where single warps multiply, on fragments in registers of 32 bits.
    const AHEAD: bool = TILES_IN_REGISTERS
        && !WARPGROUPS
        && <T as ProductOf<U, C>>::TENSOR_CORES
        && size_of::<T::Word>() == 4
        && <S::Rows as PowerOfTwo>::COUNT >= 16
        && <S::Columns as PowerOfTwo>::COUNT >= 8
        && <B::Threads as PowerOfTwo>::COUNT >= 32;

    #[inline_on_device]
    pub(crate) fn new(acc: &'a mut Accumulator<C, S, B>) -> Self {
        Self { acc, ahead: OperandFragments::zero() }
    }

    /// Does the multiplication whose fragments were loaded ahead.
    ///
    /// # Safety
    /// Multiplications lag behind: [`AHEAD`](Self::AHEAD).
    #[inline_on_device]
    unsafe fn add_ahead(&mut self) {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles, as `AHEAD` asks.
        unsafe { self.ahead.multiply::<false>(&mut self.acc.registers) }
    }

    /// Does the multiplication whose fragments were loaded ahead, if there is one.
    #[inline_on_device]
    pub(crate) fn finish(mut self) {
        if const { Self::AHEAD } {
            // SAFETY: just asked.
            unsafe { self.add_ahead() };
        }
    }
}

impl<T: SharedMma<U, C>, U: Repack, C: Element, M: Dimension, N: Dimension, B: Block>
    Accumulation<'_, T, U, C, (M, N), B>
{
    /// Adds the product of A, a (M, K) tile in shared memory or in registers, and B, a (K, N) tile in shared memory.
    ///
    /// See [`Accumulator::mma`].
    #[inline_on_device]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element = T>,
        Y: SharedOperand<'k, K, N, Element = U>,
    {
        let pair = PairOf::new(a, b);
        if const { !Self::AHEAD || !PairOf::<X, Y, C, M, N, K, B>::BY_FRAGMENTS } {
            issue(self.acc, pair);
            return;
        }
        let step = |fragments| {
            // SAFETY: multiplications lag behind, as just asked.
            unsafe { self.add_ahead() };
            self.ahead = fragments;
        };
        // SAFETY: warps have a multiplication of fragments of these operands, as just asked.
        unsafe { each_step(pair, step) };
    }
}

/// Accumulators of type `C` and shape `S`, to which the steps of a k loop add products of elements `T` and `U` with promoted accumulation, from
/// [`KLoop::accumulate_promoted`](crate::pipeline::KLoop::accumulate_promoted).
///
/// # On a GPU
///
/// Where warpgroups multiply and have the registers, a product lags one behind: tensor cores accumulate it while threads add the one before.
pub struct PromotedAccumulation<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    sums: Accumulation<'a, T, U, C, S, B>,
    /// The registers of the product that is next.
    next: Registers<C, ProductRegisters<S>>,
    /// The product that is still to be added. The first one is zero.
    last: Registers<C, ProductRegisters<S>>,
}

impl<'a, T: SharedMma<U, C>, U: Repack, C: Element, S: Shape, B: Block>
    PromotedAccumulation<'a, T, U, C, S, B>
{
    /// Whether products lag one behind, if warpgroups multiply the operands. `next` and `last` then take turns, and a loop needs a step of
    /// its own for each turn.
    pub(crate) const LAGS: bool = WARPGROUPS && T::WARPGROUPS && T::SHORT && lags::<S, B>();

    #[inline_on_device]
    pub(crate) fn new(acc: &'a mut Accumulator<C, S, B>) -> Self {
        let zero = Registers::from_fn(|_| C::ZERO);
        let next = if const { Self::LAGS } { unset() } else { zero };
        Self { sums: Accumulation::new(acc), next, last: zero }
    }

    /// Adds the product that is still to be added, when all multiplications are done. A k loop has waited for them wherever there are some;
    /// the assembler does not know that.
    #[inline_on_device]
    pub(crate) fn finish(mut self) {
        if const { Self::LAGS } {
            // SAFETY: products lag, of elements that warpgroups multiply, as just asked. All threads of the block run this alike.
            unsafe { add_the_last_one::<T, U, C, S, B>(self.sums.acc, &mut self.last) };
        }
        self.sums.finish();
    }
}

impl<T: SharedMma<U, C>, U: Repack, C: Element, M: Dimension, N: Dimension, B: Block>
    PromotedAccumulation<'_, T, U, C, (M, N), B>
{
    /// Adds the product of A, a (M, K) tile in shared memory or in registers, and B, a (K, N) tile in shared memory.
    ///
    /// See [`Accumulator::mma_promoted`].
    #[inline_on_device]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element = T>,
        Y: SharedOperand<'k, K, N, Element = U>,
    {
        if const { !T::SHORT } {
            return self.sums.mma(a, b);
        }
        let pair = PairOf::new(a, b);
        if const { !Self::LAGS || !PairOf::<X, Y, C, M, N, K, B>::BY_WARPGROUPS } {
            return issue_promoted(self.sums.acc, pair);
        }
        // SAFETY: warpgroups multiply, and products lag, as just asked. All threads of the block run this alike. The registers of `next`
        // are read when the next product was started.
        unsafe {
            start_alone(&mut self.next, self.sums.acc.warpgroup, pair);
            add_the_one_before::<T, U, C, (M, N), B>(self.sums.acc, &mut self.last);
        }
        (self.next, self.last) = (self.last, self.next);
    }
}
