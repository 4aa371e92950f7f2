//! The two operands of a multiplication and its accumulators, as one type: the properties that decide the instructions.

use crate::arch::matrix::WARPGROUPS;
use crate::element::{Element, Repack};
use crate::layout::Block;
use crate::memory::reads::{Readers, Reads};
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::accumulator::Accumulator;
use crate::mma::instruction_shape::{MN_MAJOR_BYTES, STEP_BYTES, STEP_COLUMNS, WHOLE_PANEL};
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::shapes::assert_rows_and_depth_are_whole;
use crate::mma::types::ProductOf;
use crate::registers::{PowerOfTwo, Product, Quotient};
use crate::shape::Dimension;
use core::marker::PhantomData;
use typenum::U2;

/// An operand A of shape `(M, K)` and an operand B of shape `(K, N)`, whose product is added to accumulators of shape `(M, N)`.
pub(crate) trait Pair<'k>: Copy {
    /// The rows of the accumulators.
    type M: Dimension;
    /// The columns of the accumulators.
    type N: Dimension;
    /// The contracted axis.
    type K: Dimension;
    /// The block that multiplies.
    type Block: Block;
    /// The type of the accumulators.
    type C: Element;
    /// The elements of operand A.
    type T: SharedMma<Self::U, Self::C>;
    /// The elements of operand B.
    type U: Repack;
    /// Operand A.
    type A: OperandA<'k, Self::M, Self::K, Self::Block, Element = Self::T>;
    /// Operand B.
    type B: SharedOperand<'k, Self::K, Self::N, Element = Self::U>;

    /// The lengths of the axes.
    const ROWS: usize = <<Self::M as Dimension>::Count as PowerOfTwo>::COUNT;
    /// See [`ROWS`](Self::ROWS).
    const COLUMNS: usize = <<Self::N as Dimension>::Count as PowerOfTwo>::COUNT;
    /// See [`ROWS`](Self::ROWS).
    const DEPTH: usize = <<Self::K as Dimension>::Count as PowerOfTwo>::COUNT;
    /// The columns in use: fewer than [`COLUMNS`](Self::COLUMNS) if they are [`Padded`](crate::shape::Padded).
    const COLUMNS_IN_USE: usize = Self::N::LENGTH;
    /// Threads of the block.
    const THREADS: usize = <<Self::Block as Block>::Threads as PowerOfTwo>::COUNT;
    /// Bytes of an element.
    const SIZE: usize = size_of::<<Self::T as Element>::Bits>();
    /// How much of the contracted axis one instruction of a warp takes.
    const STEP: usize = <<Self::T as SharedMma<Self::U, Self::C>>::Step as Dimension>::Count::COUNT;
    /// Whether operand A is MN-major: its contracted axis runs across the rows of its stage.
    const A_IS_MN_MAJOR: bool = Self::A::TRANSPOSED;
    /// Whether operand B is MN-major, as it is unless it is transposed.
    const B_IS_MN_MAJOR: bool = !Self::B::TRANSPOSED;

    /// Whether warps have a multiplication of fragments of these operands.
    const BY_FRAGMENTS: bool = <Self::T as ProductOf<Self::U, Self::C>>::TENSOR_CORES
        && Self::ROWS >= 16
        && Self::COLUMNS >= 8
        && Self::DEPTH >= Self::STEP
        && Self::THREADS >= 32;
    /// Whether operand A goes through registers, since `wgmma` does not transpose its elements.
    const THROUGH_REGISTERS: bool = Self::A_IS_MN_MAJOR && Self::SIZE == MN_MAJOR_BYTES;
    /// Whether warpgroups have a multiplication of these operands.
    const BY_WARPGROUPS: bool = {
        let a_serves = match Self::A::GEOMETRY {
            Some(geometry) => {
                !Self::A_IS_MN_MAJOR
                    || (Self::SIZE == 2 && geometry.panel_bytes == WHOLE_PANEL)
                    || Self::THROUGH_REGISTERS
            }
            None => Self::SIZE == 2,
        };
        let b_serves =
            !Self::B_IS_MN_MAJOR || (Self::SIZE == 2 && Self::B::GEOMETRY.panel_bytes == WHOLE_PANEL);
        WARPGROUPS
            && <Self::T as SharedMma<Self::U, Self::C>>::WARPGROUPS
            && a_serves
            && b_serves
            && Self::THREADS >= 128
            && Self::ROWS * 2 >= Self::THREADS
            && Self::COLUMNS >= 8
            && Self::DEPTH * Self::SIZE >= STEP_BYTES
    };
    /// Blocks of 64 rows of a warpgroup.
    const ROW_BLOCKS: usize = <RowBlocks<'k, Self> as PowerOfTwo>::COUNT;
    /// Columns of one `wgmma`.
    const COLUMNS_AT_ONCE: usize =
        if Self::COLUMNS_IN_USE < STEP_COLUMNS { Self::COLUMNS_IN_USE } else { STEP_COLUMNS };

    /// Operand A.
    fn a(self) -> Self::A;
    /// Operand B.
    fn b(self) -> Self::B;

    /// Whether guards hold the stages.
    #[inline_on_device]
    fn is_held(self) -> bool {
        self.a().reads().is_none_or(Reads::is_held) && self.b().reads().is_held()
    }

    /// Records the readers of the stages.
    #[inline_on_device]
    fn mark(self, readers: Readers) {
        if let Some(reads) = self.a().reads() {
            reads.set(readers);
        }
        self.b().reads().set(readers);
    }
}

/// Blocks of 64 rows of a warpgroup.
pub(crate) type RowBlocks<'k, P> = Quotient<
    Product<<<P as Pair<'k>>::M as Dimension>::Count, U2>,
    <<P as Pair<'k>>::Block as Block>::Threads,
>;

/// The accumulators of a pair.
pub(crate) type AccumulatorOf<'k, P> =
    Accumulator<<P as Pair<'k>>::C, (<P as Pair<'k>>::M, <P as Pair<'k>>::N), <P as Pair<'k>>::Block>;

/// The [`Pair`] of the operands `X` and `Y`, for accumulators of type `C` and shape `(M, N)`.
pub(crate) struct PairOf<X, Y, C, M, N, K, B> {
    a: X,
    b: Y,
    kind: PhantomData<(C, M, N, K, B)>,
}

impl<X, Y, C, M: Dimension, N, K: Dimension, B> PairOf<X, Y, C, M, N, K, B> {
    #[inline_on_device]
    pub(crate) fn new(a: X, b: Y) -> Self {
        const { assert_rows_and_depth_are_whole::<(M, K)>() };
        Self { a, b, kind: PhantomData }
    }
}

impl<X: Copy, Y: Copy, C, M, N, K, B> Clone for PairOf<X, Y, C, M, N, K, B> {
    #[inline_on_device]
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
    type C = C;
    type T = X::Element;
    type U = Y::Element;
    type A = X;
    type B = Y;
    #[inline_on_device]
    fn a(self) -> X {
        self.a
    }
    #[inline_on_device]
    fn b(self) -> Y {
        self.b
    }
}
