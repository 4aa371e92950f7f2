//! The layouts of tensor cores: accumulators, and the fragments of the operands that belong to them.
//!
//! A tensor core multiplies 16 rows by 8 columns at a time, held by one warp as the PTX ISA lays down ("Matrix Fragments for
//! mma.m16n8k16"): lane bits 2 to 4 are the row within eight rows and lane bits 0 and 1 pairs of columns, or of `k`, in a 32-bit
//! register. A larger tile is that fragment over and over again, first across the warps of the block and then in the registers
//! of each.

use super::map::{FLAT_BITS, LinearMap, NONE, THREAD_BITS};
use super::{Block, Blocked, Join, Layout, LayoutDescription, Slice};
use crate::arch::matrix::Arrangement;
use crate::registers::{IfEqual, Maximum, Minimum, PowerOfTwo, Product, Quotient};
use crate::sealed::sealed;
use crate::shape::{Axis, Shape, ShapeDescription};
use core::marker::PhantomData;
use typenum::{U1, U2, U4, U8, U16, U32, U64, U4096};

/// Where tensor cores leave their sums: the layout of what `mma` gives and goes on adding to.
///
/// The last two axes of a tile are the rows and columns of a matrix, which is spread over the block in pieces of 16 rows and
/// 8 columns. Operations with [`Blocked`] tiles bring these to the accumulators, so that a bias or a scale that was loaded
/// costs one move and the sums none; reductions over rows or columns stay within a warp as far as it has them. A matrix of fewer
/// than 16 rows or 8 columns lies as [`Blocked`].
#[derive(Clone, Copy, Debug)]
pub struct Accumulators<B>(PhantomData<B>);

/// The transposes of [`Accumulators`]: every thread holds what it holds of them, with rows and columns exchanged.
///
/// It is what [`Tile::turned`](crate::tile::Tile::turned) gives, and otherwise behaves as accumulators do.
#[derive(Clone, Copy, Debug)]
pub struct TransposedAccumulators<B>(PhantomData<B>);

/// The left operand (.., M, K) of elements of `E` bytes, as tensor cores take it for accumulators of `N` columns: each warp holds
/// the rows of its own accumulators, so that warps side by side hold copies.
///
/// Where the accumulators lie as [`Blocked`], or K has less than 16 bytes (4 elements of 8 bytes), so does the operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandALayout<B, E, N>(PhantomData<(B, E, N)>);

/// The right operand (.., K, N), for accumulators of `M` rows: the same with columns.
#[derive(Clone, Copy, Debug)]
pub struct OperandBLayout<B, E, M>(PhantomData<(B, E, M)>);

/// The parts of a product of matrices, as data.
#[derive(Clone, Copy, Debug)]
pub enum MatrixPart {
    /// See [`Accumulators`].
    Accumulators,
    /// See [`TransposedAccumulators`].
    TransposedAccumulators,
    /// See [`OperandALayout`].
    Left {
        /// Base-2 logarithm of the bytes of an element.
        bytes: u32,
        /// Base-2 logarithm of the columns of the accumulators.
        columns: u32,
    },
    /// See [`OperandBLayout`].
    Right {
        /// Base-2 logarithm of the bytes of an element.
        bytes: u32,
        /// Base-2 logarithm of the rows of the accumulators.
        rows: u32,
    },
}

/// The base-2 logarithm of the lengths of the last two axes.
const fn matrix(shape: &ShapeDescription) -> (u32, u32) {
    match shape.rank {
        0 => (0, 0),
        1 => (0, shape.log[0]),
        rank => (shape.log[rank - 2], shape.log[rank - 1]),
    }
}

const fn minimum(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// The base-2 logarithms of the warps along the rows and along the columns of accumulators with `2^m` rows and `2^n` columns, or
/// nothing where tensor cores do not serve them.
///
/// Where warpgroups multiply together, warps go down the rows, as they hold the accumulators of `wgmma`; elsewhere each warp has
/// about as many rows as columns, and no more than 64 of either where that can be.
pub(crate) const fn warps(m: u32, n: u32, threads: u32, warpgroups: bool) -> Option<(u32, u32)> {
    if m < 4 || n < 3 || threads < 5 {
        return None;
    }
    let warps = threads - 5;
    let rows = if warpgroups {
        minimum(warps, m - 4)
    } else {
        let (tall, left) = (m.saturating_sub(6), warps.saturating_sub(n - 3));
        minimum(warps, minimum(m - 4, if tall > left { tall } else { left }))
    };
    Some((rows, minimum(warps - rows, n - 3)))
}

/// Bits of a register number and of a thread number, from the lowest on, as they are handed out.
struct Places {
    register: [i8; FLAT_BITS],
    registers: usize,
    thread: [i8; THREAD_BITS],
    threads: usize,
}

impl Places {
    const fn new() -> Self {
        Self { register: [NONE; FLAT_BITS], registers: 0, thread: [NONE; THREAD_BITS], threads: 0 }
    }

    /// Gives the flat bits `low..high` the next bits of the register number.
    const fn registers(mut self, low: u32, high: u32) -> Self {
        let mut bit = low;
        while bit < high {
            self.register[self.registers] = bit as i8;
            self.registers += 1;
            bit += 1;
        }
        self
    }

    /// Gives the flat bits `low..high` the next bits of the thread number.
    const fn threads(mut self, low: u32, high: u32) -> Self {
        let mut bit = low;
        while bit < high {
            self.thread[self.threads] = bit as i8;
            self.threads += 1;
            bit += 1;
        }
        self
    }

    /// Leaves out `count` bits of the thread number: these threads hold copies.
    const fn copies(mut self, count: u32) -> Self {
        self.threads += count as usize;
        self
    }

    const fn map(self, threads: u32) -> LinearMap {
        LinearMap::new(self.registers, self.register, self.thread, threads)
    }
}

impl MatrixPart {
    /// Which element of a tile of `shape` is where; [`Blocked`] in pieces of `2^vector` where tensor cores do not serve it.
    pub(crate) const fn map(
        &self,
        shape: &ShapeDescription,
        vector: u32,
        threads: u32,
        warpgroups: bool,
    ) -> LinearMap {
        let (rows, columns) = matrix(shape);
        let bits = shape.bits();
        let blocked = LinearMap::blocked(bits, vector, threads);
        match *self {
            Self::Accumulators => {
                let Some((down, across)) = warps(rows, columns, threads, warpgroups) else { return blocked };
                let n = columns;
                Places::new()
                    .registers(0, 1)
                    .registers(n + 3, n + 4)
                    .registers(3 + across, n)
                    .registers(n + 4 + down, bits)
                    .threads(1, 3)
                    .threads(n, n + 3)
                    .threads(n + 4, n + 4 + down)
                    .threads(3, 3 + across)
                    .map(threads)
            }
            Self::TransposedAccumulators => {
                let Some((down, across)) = warps(columns, rows, threads, warpgroups) else { return blocked };
                let (n, end) = (columns, columns + rows);
                Places::new()
                    .registers(n, n + 1)
                    .registers(3, 4)
                    .registers(n + 3 + across, end)
                    .registers(4 + down, n)
                    .registers(end, bits)
                    .threads(n + 1, n + 3)
                    .threads(0, 3)
                    .threads(4, 4 + down)
                    .threads(n + 3, n + 3 + across)
                    .map(threads)
            }
            Self::Left { bytes, columns: n } => {
                let k = columns;
                let (word, unit) = word_and_unit(bytes);
                let Some((down, _)) = warps(rows, n, threads, warpgroups) else { return blocked };
                if k < unit {
                    return blocked;
                }
                Places::new()
                    .registers(0, word)
                    .registers(k + 3, k + 4)
                    .registers(unit, k)
                    .registers(k + 4 + down, bits)
                    .threads(word, unit)
                    .threads(k, k + 3)
                    .threads(k + 4, k + 4 + down)
                    .map(threads)
            }
            Self::Right { bytes, rows: m } => {
                let (k, n) = (rows, columns);
                let (word, unit) = word_and_unit(bytes);
                let Some((down, across)) = warps(m, n, threads, warpgroups) else { return blocked };
                if k < unit {
                    return blocked;
                }
                Places::new()
                    .registers(n, n + word)
                    .registers(n + unit, n + k)
                    .registers(3 + across, n)
                    .registers(n + k, bits)
                    .threads(n + word, n + unit)
                    .threads(0, 3)
                    .copies(down)
                    .threads(3, 3 + across)
                    .map(threads)
            }
        }
    }
}

/// The base-2 logarithms of the elements of a register, and of `k` over four lanes.
const fn word_and_unit(bytes: u32) -> (u32, u32) {
    let word = 2u32.saturating_sub(bytes);
    (word, word + 2)
}

/// The warps of block `B`.
type Warps<B> = Quotient<<B as Block>::Threads, U32>;

/// [`warps`] along the rows of accumulators of `M` rows and `N` columns, for `W` warps; `G` is [`Arrangement`].
pub(super) type WarpRows<G, M, N, W> = IfEqual<
    G,
    U2,
    Minimum<W, Quotient<M, U16>>,
    Minimum<W, Minimum<Quotient<M, U16>, Maximum<Quotient<M, U64>, Quotient<W, Quotient<N, U8>>>>>,
>;

/// [`warps`] along the columns.
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

/// Registers of a tile `S` whose matrices, or their transposes, are sums of `M` rows and `N` columns.
type Sums<B, S, M, N> = IfServed<
    B,
    M,
    N,
    Quotient<<S as Shape>::Count, Product<U32, Product<Down<B, M, N>, Across<B, M, N>>>>,
    <Blocked<B> as Layout>::Registers<S>,
>;

/// Those of them that differ in the bits from `log Low` to `log High` of the flat index, in which a row of the sums counts `Row`, a column
/// `Column`, and a matrix `M N`. The ranges of the map: row 3 and column 0, the rows and columns beyond the warps, and the matrices.
type SumsWithin<B, S, M, N, Row, Column, Low, High> = IfServed<
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

impl<B: Block> Layout for Accumulators<B> {
    type Block = B;
    type Registers<S: Shape> = Sums<B, S, S::Rows, S::Columns>;
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> =
        SumsWithin<B, S, S::Rows, S::Columns, S::Columns, U1, Low, High>;
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
        SumsWithin<B, S, S::Columns, S::Rows, U1, S::Columns, Low, High>;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Matrix {
        part: MatrixPart::TransposedAccumulators,
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
        part: MatrixPart::Left { bytes: E::LOG, columns: N::LOG },
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
        part: MatrixPart::Right { bytes: E::LOG, rows: M::LOG },
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
impl<B: Block, E: PowerOfTwo, M: PowerOfTwo> Join<Self> for OperandBLayout<B, E, M> {
    type Output = Self;
}

sealed! {
    [B] Accumulators<B>;
    [B] TransposedAccumulators<B>;
    [B, E, N] OperandALayout<B, E, N>;
    [B, E, M] OperandBLayout<B, E, M>;
}
/// Whether tiles of this layout are transposes of what tensor cores summed up.
pub(crate) const fn is_transposed<L: Layout>() -> bool {
    matches!(L::DESCRIPTION, LayoutDescription::Matrix { part: MatrixPart::TransposedAccumulators, .. })
}
