//! The layouts of tensor cores: accumulators, and the fragments of operands A and B.
//!
//! A tensor core multiplies 16 rows by 8 columns at a time. One warp holds them as the PTX ISA lays down ("Matrix Fragments for
//! mma.m16n8k16 with floating point type"): lane bits 2 to 4 are the row within eight rows; lane bits 0 and 1 are pairs of columns, or of
//! `k`, in a 32-bit register. A larger tile repeats this fragment, first across the warps of the block and then in the registers of each
//! warp.

use super::matrix_part::MatrixPart;
use super::{Block, Blocked, Join, Layout, LayoutDescription, Slice};
use crate::arch::matrix::Arrangement;
use crate::registers::{IfEqual, Maximum, Minimum, PowerOfTwo, Product, Quotient};
use crate::sealed::sealed;
use crate::shape::{Axis, Shape};
use core::marker::PhantomData;
use typenum::{U1, U2, U4, U8, U16, U32, U64, U4096};

/// The layout of accumulators: the result of `mma`, and its third operand.
///
/// The last two axes of a tile are the rows and columns of a matrix, spread over the block in pieces of 16 rows and 8 columns.
/// An operation with a [`Blocked`] tile moves that tile to this layout: a loaded bias or scale costs one move, and the
/// accumulators none. Reductions over rows or columns stay within a warp as far as the warp holds them. A matrix of fewer than
/// 16 rows or 8 columns lies as [`Blocked`].
///
/// # On a GPU
///
/// The registers that `mma.sync` (PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type") or, where warpgroups multiply,
/// `wgmma.mma_async` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions") writes.
#[derive(Clone, Copy, Debug)]
pub struct Accumulators<B>(PhantomData<B>);

/// The layout of transposed [`Accumulators`]: every thread holds the same elements, with rows and columns exchanged.
///
/// [`Tile::transposed_accumulators`](crate::tile::Tile::transposed_accumulators) gives it. It serves to swap A and B. Otherwise
/// it behaves as accumulators do.
#[derive(Clone, Copy, Debug)]
pub struct TransposedAccumulators<B>(PhantomData<B>);

/// The layout of the transposes of [`Blocked`] tiles: every thread holds the same elements, with rows and columns exchanged.
///
/// [`Tile::transposed_in_place`](crate::tile::Tile::transposed_in_place) gives it. A thread has neighbours of a column, and
/// [`mma`](crate::mma::mma()) stores operands by columns. Operations with tiles of other layouts move the tile.
///
/// # On a GPU
///
/// The registers of the loads that [`TiledView`](crate::view::TiledView#on-a-gpu) lists.
#[derive(Clone, Copy, Debug)]
pub struct TransposedBlocked<B>(PhantomData<B>);

/// The layout of operand A (.., M, K), of elements of `E` bytes, for accumulators of `N` columns. Each warp holds the rows of
/// its own accumulators; warps side by side hold copies.
///
/// Where the accumulators lie as [`Blocked`], or K has less than 16 bytes (4 elements of 8 bytes), the operand is [`Blocked`]
/// as well.
#[derive(Clone, Copy, Debug)]
pub struct OperandALayout<B, E, N>(PhantomData<(B, E, N)>);

/// The layout of operand B (.., K, N), for accumulators of `M` rows. Each warp holds the columns of its own accumulators.
#[derive(Clone, Copy, Debug)]
pub struct OperandBLayout<B, E, M>(PhantomData<(B, E, M)>);

/// The warps of block `B`.
type Warps<B> = Quotient<<B as Block>::Threads, U32>;

/// [`warps`](super::warps) along the rows of accumulators of `M` rows and `N` columns, for `W` warps; `G` is [`Arrangement`].
pub(super) type WarpRows<G, M, N, W> = IfEqual<
    G,
    U2,
    Minimum<W, Quotient<M, U16>>,
    Minimum<W, Minimum<Quotient<M, U16>, Maximum<Quotient<M, U64>, Quotient<W, Quotient<N, U8>>>>>,
>;

/// [`warps`](super::warps) along the columns.
pub(super) type WarpColumns<G, M, N, W> = Minimum<Quotient<W, WarpRows<G, M, N, W>>, Quotient<N, U8>>;

/// [`WarpRows`] of block `B`.
pub(crate) type Down<B, M, N> = WarpRows<Arrangement, M, N, Warps<B>>;
/// [`WarpColumns`] of block `B`.
pub(crate) type Across<B, M, N> = WarpColumns<Arrangement, M, N, Warps<B>>;

/// `Then` where tensor cores serve accumulators of `M` rows and `N` columns of block `B`, else `Else`.
type IfServed<B, M, N, Then, Else> = IfEqual<
    Product<Minimum<M, U16>, Product<Minimum<N, U8>, Minimum<<B as Block>::Threads, U32>>>,
    U4096,
    Then,
    Else,
>;

/// The same for operands whose elements have `E` bytes.
type IfOperand<B, E, M, N, K, Then, Else> =
    IfServed<B, M, N, IfEqual<Minimum<K, Unit<E>>, Unit<E>, Then, Else>, Else>;

/// Elements of `E` bytes in a register.
type WordOf<E> = Quotient<U4, E>;
/// Elements of `E` bytes along `k` over four lanes.
type Unit<E> = Product<WordOf<E>, U4>;

/// 2 to the number of bits from `log Low` to `log High` that lie between `log A` and `log Z`.
type Within<Low, High, A, Z> = Quotient<Maximum<A, Minimum<High, Z>>, Maximum<A, Minimum<Low, Z>>>;

/// 2 to the number of bits from `log Low` to `log High` from `log A` on.
type Beyond<Low, High, A> = Quotient<Maximum<High, A>, Maximum<Low, A>>;

/// Registers of a tile `S` whose matrices, or their transposes, are accumulators of `M` rows and `N` columns.
type Sums<B, S, M, N> = IfServed<
    B,
    M,
    N,
    Quotient<<S as Shape>::Count, Product<U32, Product<Down<B, M, N>, Across<B, M, N>>>>,
    <Blocked<B> as Layout>::Registers<S>,
>;

/// The registers among them that differ in the bits from `log Low` to `log High` of the flat index. In it, a row of the
/// accumulators counts `Row`, a column `Column`, and a matrix `M N`. The ranges of the map: row 3 and column 0, rows and
/// columns beyond the warps, matrices.
type AccumulatorsWithin<B, S, M, N, Row, Column, Low, High> = IfServed<
    B,
    M,
    N,
    Product<
        Product<
            Within<Low, High, Column, Product<U2, Column>>,
            Within<Low, High, Product<Product<U8, Column>, Across<B, M, N>>, Product<N, Column>>,
        >,
        Product<
            Product<
                Within<Low, High, Product<U8, Row>, Product<U16, Row>>,
                Within<Low, High, Product<Product<U16, Row>, Down<B, M, N>>, Product<M, Row>>,
            >,
            Beyond<Low, High, Product<M, N>>,
        >,
    >,
    <Blocked<B> as Layout>::RegistersWithin<S, Low, High>,
>;

/// 2 to the number of register bits from `log Low` to `log High` of the flat index of the tile that was transposed.
type BlockedWithin<B, S, Low, High> = <Blocked<B> as Layout>::RegistersWithin<S, Low, High>;
/// The elements of a matrix.
type Matrix<S> = Product<<S as Shape>::Rows, <S as Shape>::Columns>;
/// `N`, but at least the columns and at most the elements of a matrix, in rows.
type InRows<S, N> = Quotient<Maximum<<S as Shape>::Columns, Minimum<N, Matrix<S>>>, <S as Shape>::Columns>;

impl<B: Block> Layout for Accumulators<B> {
    type Block = B;
    type Registers<S: Shape> = Sums<B, S, S::Rows, S::Columns>;
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> =
        AccumulatorsWithin<B, S, S::Rows, S::Columns, S::Columns, U1, Low, High>;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::Accumulators,
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

impl<B: Block> Layout for TransposedAccumulators<B> {
    type Block = B;
    type Registers<S: Shape> = Sums<B, S, S::Columns, S::Rows>;
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> =
        AccumulatorsWithin<B, S, S::Columns, S::Rows, U1, S::Columns, Low, High>;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::TransposedAccumulators,
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

impl<B: Block> Layout for TransposedBlocked<B> {
    type Block = B;
    type Registers<S: Shape> = <Blocked<B> as Layout>::Registers<S>;
    // The ranges of the map: columns, rows, and matrices.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = Product<
        Product<
            BlockedWithin<
                B,
                S,
                Product<S::Rows, Minimum<Low, S::Columns>>,
                Product<S::Rows, Minimum<High, S::Columns>>,
            >,
            BlockedWithin<B, S, InRows<S, Low>, InRows<S, High>>,
        >,
        BlockedWithin<B, S, Maximum<Low, Matrix<S>>, Maximum<High, Matrix<S>>>,
    >;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::TransposedBlocked,
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

impl<B: Block, E: PowerOfTwo, N: PowerOfTwo> Layout for OperandALayout<B, E, N> {
    type Block = B;
    type Registers<S: Shape> = IfOperand<
        B,
        E,
        S::Rows,
        N,
        S::Columns,
        Quotient<S::Count, Product<U32, Down<B, S::Rows, N>>>,
        <Blocked<B> as Layout>::Registers<S>,
    >;
    // The ranges of the map: `k` within a register and beyond a unit, row 3, and the rows beyond the warps.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = IfOperand<
        B,
        E,
        S::Rows,
        N,
        S::Columns,
        Product<
            Product<Within<Low, High, U1, WordOf<E>>, Within<Low, High, Unit<E>, S::Columns>>,
            Product<
                Within<Low, High, Product<U8, S::Columns>, Product<U16, S::Columns>>,
                Beyond<Low, High, Product<Product<U16, S::Columns>, Down<B, S::Rows, N>>>,
            >,
        >,
        <Blocked<B> as Layout>::RegistersWithin<S, Low, High>,
    >;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::A { bytes: E::LOG, columns: N::LOG },
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

impl<B: Block, E: PowerOfTwo, M: PowerOfTwo> Layout for OperandBLayout<B, E, M> {
    type Block = B;
    type Registers<S: Shape> = IfOperand<
        B,
        E,
        M,
        S::Columns,
        S::Rows,
        Quotient<S::Count, Product<U32, Across<B, M, S::Columns>>>,
        <Blocked<B> as Layout>::Registers<S>,
    >;
    // The ranges of the map: the columns beyond the warps, `k` within a register, and `k` beyond a unit.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = IfOperand<
        B,
        E,
        M,
        S::Columns,
        S::Rows,
        Product<
            Within<Low, High, Product<U8, Across<B, M, S::Columns>>, S::Columns>,
            Product<
                Within<Low, High, S::Columns, Product<S::Columns, WordOf<E>>>,
                Beyond<Low, High, Product<S::Columns, Unit<E>>>,
            >,
        >,
        <Blocked<B> as Layout>::RegistersWithin<S, Low, High>,
    >;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::B { bytes: E::LOG, rows: M::LOG },
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

macro_rules! joins_of_accumulators {
    ($($layout:ident, $other:ident;)*) => { $(
        impl<B: Block> Join<$layout<B>> for $layout<B> {
            type Output = Self;
        }
        impl<B: Block> Join<$other<B>> for $layout<B> {
            type Output = Self;
        }
        impl<B: Block> Join<$layout<B>> for Blocked<B> {
            type Output = $layout<B>;
        }
        impl<B: Block> Join<Blocked<B>> for $layout<B> {
            type Output = Self;
        }
        impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<Slice<L, P, A>> for $layout<B> {
            type Output = Self;
        }
        impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<$layout<B>> for Slice<L, P, A> {
            type Output = $layout<B>;
        }
    )* };
}
joins_of_accumulators! {
    Accumulators, TransposedAccumulators;
    TransposedAccumulators, Accumulators;
}
impl<B: Block, E: PowerOfTwo, N: PowerOfTwo> Join<Self> for OperandALayout<B, E, N> {
    type Output = Self;
}
impl<B: Block, E: PowerOfTwo, N: PowerOfTwo> Join<Blocked<B>> for OperandALayout<B, E, N> {
    type Output = Self;
}
impl<B: Block, E: PowerOfTwo, N: PowerOfTwo> Join<OperandALayout<B, E, N>> for Blocked<B> {
    type Output = OperandALayout<B, E, N>;
}
impl<B: Block, E: PowerOfTwo, N: PowerOfTwo, L: Layout<Block = B>, P: Axis<A>, const A: usize>
    Join<Slice<L, P, A>> for OperandALayout<B, E, N>
{
    type Output = Self;
}
impl<B: Block, E: PowerOfTwo, N: PowerOfTwo, L: Layout<Block = B>, P: Axis<A>, const A: usize>
    Join<OperandALayout<B, E, N>> for Slice<L, P, A>
{
    type Output = OperandALayout<B, E, N>;
}
impl<B: Block, E: PowerOfTwo, M: PowerOfTwo> Join<Self> for OperandBLayout<B, E, M> {
    type Output = Self;
}

impl<B: Block> Join<Self> for TransposedBlocked<B> {
    type Output = Self;
}
impl<B: Block> Join<Blocked<B>> for TransposedBlocked<B> {
    type Output = Blocked<B>;
}
impl<B: Block> Join<TransposedBlocked<B>> for Blocked<B> {
    type Output = Self;
}
impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<Slice<L, P, A>>
    for TransposedBlocked<B>
{
    type Output = Self;
}
impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<TransposedBlocked<B>>
    for Slice<L, P, A>
{
    type Output = TransposedBlocked<B>;
}

macro_rules! joins_with_accumulators {
    ($($layout:ident)*) => { $(
        impl<B: Block> Join<$layout<B>> for TransposedBlocked<B> {
            type Output = $layout<B>;
        }
        impl<B: Block> Join<TransposedBlocked<B>> for $layout<B> {
            type Output = Self;
        }
    )* };
}
joins_with_accumulators! { Accumulators TransposedAccumulators }

sealed! {
    [B] Accumulators<B>;
    [B] TransposedAccumulators<B>;
    [B] TransposedBlocked<B>;
    [B, E, N] OperandALayout<B, E, N>;
    [B, E, M] OperandBLayout<B, E, M>;
}
/// Whether the layout is that of transposed accumulators.
pub(crate) const fn is_transposed<L: Layout>() -> bool {
    matches!(L::DESCRIPTION, LayoutDescription::Matrix { part: MatrixPart::TransposedAccumulators, .. })
}

/// Whether the layout is that of a transpose whose elements stayed in place.
pub(crate) const fn is_transposed_in_place<L: Layout>() -> bool {
    matches!(L::DESCRIPTION, LayoutDescription::Matrix { part: MatrixPart::TransposedBlocked, .. })
}
