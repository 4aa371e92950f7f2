//! What is known of the two factors of a product and of the sums that it is added to, said once for all ways of multiplying.

use crate::arch::matrix::WARPGROUPS;
use crate::element::{Element, Repack};
use crate::layout::Block;
use crate::memory::reads::{Readers, Reads};
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::accumulator::Accumulator;
use crate::mma::instruction_shape::{ACROSS_BYTES, STEP_BYTES, STEP_COLUMNS, WHOLE_PANEL};
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Product, Quotient};
use crate::shape::Dimension;
use core::marker::PhantomData;
use typenum::U2;

/// A left factor of shape `(M, K)` and a right one of shape `(K, N)`, whose product is added to sums of shape `(M, N)` in a block.
pub(crate) trait Pair<'k>: Copy {
    /// The rows of the sums.
    type M: Dimension;
    /// Their columns.
    type N: Dimension;
    /// The contracted axis.
    type K: Dimension;
    /// The threads that multiply.
    type Block: Block;
    /// The type of the sums.
    type Sum: Element;
    /// The elements of the left factor.
    type T: SharedMma<Self::U, Self::Sum>;
    /// Those of the right one.
    type U: Repack;
    /// The left factor.
    type Left: OperandA<'k, Self::M, Self::K, Self::Block, Element = Self::T>;
    /// The right factor.
    type Right: SharedOperand<'k, Self::K, Self::N, Element = Self::U>;

    /// How long the axes are.
    const ROWS: usize = <<Self::M as Dimension>::Count as PowerOfTwo>::COUNT;
    /// See [`ROWS`](Self::ROWS).
    const COLUMNS: usize = <<Self::N as Dimension>::Count as PowerOfTwo>::COUNT;
    /// See [`ROWS`](Self::ROWS).
    const DEPTH: usize = <<Self::K as Dimension>::Count as PowerOfTwo>::COUNT;
    /// Threads of the block.
    const THREADS: usize = <<Self::Block as Block>::Threads as PowerOfTwo>::COUNT;
    /// Bytes of an element.
    const SIZE: usize = size_of::<<Self::T as Element>::Bits>();
    /// How much of the contracted axis one instruction of a warp takes.
    const STEP: usize = <<Self::T as SharedMma<Self::U, Self::Sum>>::Step as Dimension>::Count::COUNT;
    /// Whether the left factor's contracted axis runs across the rows of its stage.
    const LEFT_IS_ACROSS: bool = Self::Left::TRANSPOSED;
    /// Whether the right factor's does, which is so unless it is transposed.
    const RIGHT_IS_ACROSS: bool = !Self::Right::TRANSPOSED;

    /// Whether warps have a product of fragments of these factors.
    const BY_FRAGMENTS: bool = <Self::T as ProductOf<Self::U, Self::Sum>>::TENSOR_CORES
        && Self::ROWS >= 16
        && Self::COLUMNS >= 8
        && Self::DEPTH >= Self::STEP
        && Self::THREADS >= 32;
    /// Whether the left factor goes through registers, as warpgroups do not transpose its elements.
    const THROUGH_REGISTERS: bool = Self::LEFT_IS_ACROSS && Self::SIZE == ACROSS_BYTES;
    /// Whether warpgroups have a product of these factors.
    const BY_WARPGROUPS: bool = {
        let left_serves = match Self::Left::GEOMETRY {
            Some(geometry) => {
                !Self::LEFT_IS_ACROSS
                    || (Self::SIZE == 2 && geometry.panel_bytes == WHOLE_PANEL)
                    || Self::THROUGH_REGISTERS
            }
            None => Self::SIZE == 2,
        };
        let right_serves =
            !Self::RIGHT_IS_ACROSS || (Self::SIZE == 2 && Self::Right::GEOMETRY.panel_bytes == WHOLE_PANEL);
        WARPGROUPS
            && <Self::T as SharedMma<Self::U, Self::Sum>>::WARPGROUPS
            && left_serves
            && right_serves
            && Self::THREADS >= 128
            && Self::ROWS * 2 >= Self::THREADS
            && Self::COLUMNS >= 8
            && Self::DEPTH * Self::SIZE >= STEP_BYTES
    };
    /// Blocks of 64 rows that a warpgroup has.
    const ROW_BLOCKS: usize = <RowBlocks<'k, Self> as PowerOfTwo>::COUNT;
    /// Columns that one instruction of a warpgroup has.
    const COLUMNS_AT_ONCE: usize = if Self::COLUMNS < STEP_COLUMNS { Self::COLUMNS } else { STEP_COLUMNS };

    /// The left factor.
    fn left(self) -> Self::Left;
    /// The right factor.
    fn right(self) -> Self::Right;

    /// Whether the stages are of messages that are held.
    #[inline(always)]
    fn is_held(self) -> bool {
        self.left().reads().is_none_or(Reads::is_held) && self.right().reads().is_held()
    }

    /// Notes who reads the stages from now on.
    #[inline(always)]
    fn mark(self, readers: Readers) {
        if let Some(reads) = self.left().reads() {
            reads.set(readers);
        }
        self.right().reads().set(readers);
    }
}

/// Blocks of 64 rows that a warpgroup has.
pub(crate) type RowBlocks<'k, P> = Quotient<
    Product<<<P as Pair<'k>>::M as Dimension>::Count, U2>,
    <<P as Pair<'k>>::Block as Block>::Threads,
>;

/// The sums that the product of a pair is added to.
pub(crate) type Sums<'k, P> =
    Accumulator<<P as Pair<'k>>::Sum, (<P as Pair<'k>>::M, <P as Pair<'k>>::N), <P as Pair<'k>>::Block>;

/// The [`Pair`] of the factors `X` and `Y`, for sums of type `C` and shape `(M, N)`.
pub(crate) struct PairOf<X, Y, C, M, N, K, B> {
    left: X,
    right: Y,
    kind: PhantomData<(C, M, N, K, B)>,
}

impl<X, Y, C, M, N, K, B> PairOf<X, Y, C, M, N, K, B> {
    #[inline(always)]
    pub(crate) fn new(left: X, right: Y) -> Self {
        Self { left, right, kind: PhantomData }
    }
}

impl<X: Copy, Y: Copy, C, M, N, K, B> Clone for PairOf<X, Y, C, M, N, K, B> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: Copy, Y: Copy, C, M, N, K, B> Copy for PairOf<X, Y, C, M, N, K, B> {}

impl<'k, X, Y, C, M, N, K, B> Pair<'k> for PairOf<X, Y, C, M, N, K, B>
where
    X: OperandA<'k, M, K, B, Element: SharedMma<Y::Element, C>>,
    Y: SharedOperand<'k, K, N, Element: Repack>,
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
{
    type M = M;
    type N = N;
    type K = K;
    type Block = B;
    type Sum = C;
    type T = X::Element;
    type U = Y::Element;
    type Left = X;
    type Right = Y;
    #[inline(always)]
    fn left(self) -> X {
        self.left
    }
    #[inline(always)]
    fn right(self) -> Y {
        self.right
    }
}
