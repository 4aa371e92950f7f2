//! How a tile lies over the threads of a block.
//!
//! On the CPU a block is one thread and every layout is the same; on the device a layout decides which
//! elements meet in a register without any exchange. Users name layouts rarely: loads give [`Blocked`],
//! reductions give [`Slice`], products of matrices [`Accumulators`], and operations on two tiles find the common layout
//! through [`Join`].

pub(crate) mod bits;
pub(crate) mod exchange;
#[doc(hidden)]
pub mod map;
mod matrix;
mod matrix_part;
#[doc(hidden)]
pub mod movement;
mod scan;

sealed! {
    [
        const THREADS: usize,
        const VECTOR: usize,
        const GRID_RANK: usize,
        const COPY: usize,
        const CONSUMERS: usize,
        const CLUSTER_ROWS: usize,
        const CLUSTER_COLUMNS: usize
    ] Cta<THREADS, VECTOR, GRID_RANK, COPY, CONSUMERS, CLUSTER_ROWS, CLUSTER_COLUMNS>;
    [B] Blocked<B>;
    [L, P, const A: usize] Slice<L, P, A>;
}

#[cfg(test)]
mod tests;

pub(crate) use map::{BitMap, LinearMap, ReductionPlan, THREAD_BITS};
pub use matrix::{Accumulators, TransposedAccumulators, TransposedBlocked};
pub(crate) use matrix::{Across, Down, is_transposed, is_transposed_in_place};
#[doc(hidden)]
pub use matrix::{OperandALayout, OperandBLayout};
pub use matrix_part::MatrixPart;
pub(crate) use matrix_part::warps;
pub(crate) use movement::{Broadcasting, Conversion, Movement, Pair, Passage, Single, Source};
pub(crate) use scan::{Carrier, Field, Scan, ScanPlan};

use crate::arch;
use crate::registers::{IfEqual, Maximum, Minimum, PowerOfTwo, Product, Quotient};
use crate::sealed::{Sealed, sealed};
use crate::shape::{Axis, Shape, ShapeDescription};
use core::marker::PhantomData;
use typenum::{Const, ToUInt};

/// Threads of a warpgroup: four warps, whose registers `wgmma` reads and writes (PTX ISA, "Warpgroup").
pub(crate) const WARPGROUP: usize = 128;

/// The block that runs a kernel, as a type: its threads, the length of the contiguous pieces that a thread
/// holds, and the rank of the grid it is part of.
///
/// A kernel is generic over it, because the same source runs with many threads a block on the device and
/// with one on the CPU. The attribute `#[kernel]` chooses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a block",
    label = "expected the kernel's block parameter",
    note = "a helper that works on tiles takes `<B: Block>` and passes it on"
)]
pub trait Block: Sealed + Copy + Send + Sync + 'static {
    /// Threads of the block.
    type Threads: PowerOfTwo;
    /// Neighbouring elements that a thread holds in a row.
    type Vector: PowerOfTwo;
    /// How many axes of the grid tell blocks apart: 1 to 3.
    const GRID_RANK: u32;
    /// Threads that the block has besides, which hold no tiles: they copy. None on the CPU.
    const PRODUCER_THREADS: u32;
    /// How many such blocks a CTA of a GPU has. They share its producer threads, and the stages of its pipeline.
    const CONSUMERS: u32;
    /// The blocks of a cluster, whose tiles lie in so many rows and columns of tiles. The first block's producer copies for all of them.
    const CLUSTER: [u32; 2];
    /// The number of blocks of a cluster.
    const CLUSTER_SIZE: u32 = Self::CLUSTER[0] * Self::CLUSTER[1];
}

/// A block of `THREADS` threads holding pieces of `VECTOR` elements, in a grid of rank `GRID_RANK`, with `COPY` more threads
/// that copy.
#[derive(Clone, Copy, Debug)]
pub struct Cta<
    const THREADS: usize,
    const VECTOR: usize = 4,
    const GRID_RANK: usize = 1,
    const COPY: usize = 0,
    const CONSUMERS: usize = 1,
    const CLUSTER_ROWS: usize = 1,
    const CLUSTER_COLUMNS: usize = 1,
>;

impl<
    const THREADS: usize,
    const VECTOR: usize,
    const GRID_RANK: usize,
    const COPY: usize,
    const CONSUMERS: usize,
    const CLUSTER_ROWS: usize,
    const CLUSTER_COLUMNS: usize,
> Block for Cta<THREADS, VECTOR, GRID_RANK, COPY, CONSUMERS, CLUSTER_ROWS, CLUSTER_COLUMNS>
where
    Const<THREADS>: ToUInt<Output: PowerOfTwo>,
    Const<VECTOR>: ToUInt<Output: PowerOfTwo>,
{
    type Threads = <Const<THREADS> as ToUInt>::Output;
    type Vector = <Const<VECTOR> as ToUInt>::Output;
    const GRID_RANK: u32 = GRID_RANK as u32;
    const PRODUCER_THREADS: u32 = COPY as u32;
    const CONSUMERS: u32 = CONSUMERS as u32;
    const CLUSTER: [u32; 2] = [CLUSTER_ROWS as u32, CLUSTER_COLUMNS as u32];
}

/// How the elements of a tile are spread over threads and registers.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a tile layout", label = "not a layout")]
pub trait Layout: Sealed + Copy + Send + Sync + 'static + Join<Self, Output = Self> {
    /// The block over which tiles are spread.
    type Block: Block;
    /// How many elements of a tile of shape `S` each thread holds.
    type Registers<S: Shape>: PowerOfTwo;
    /// 2 to the number of register bits that are bits `log Low` to `log High` of the flat index.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo>: PowerOfTwo;
    /// The layout as data.
    const DESCRIPTION: LayoutDescription;
}

/// The layout in which an operation on two tiles is done.
#[diagnostic::on_unimplemented(
    message = "tiles of two different blocks meet in one operation",
    label = "these tiles belong to different blocks",
    note = "both tiles must come from views or creations with the kernel's own `cx`"
)]
pub trait Join<Other: Sealed>: Sealed {
    /// The common layout.
    type Output: Layout;
}

/// Layouts of tiles that the threads of block `B` hold.
pub trait HeldBy<B: Block>: Layout<Block = B> + Join<Blocked<B>> {}

impl<B: Block, L: Layout<Block = B> + Join<Blocked<B>>> HeldBy<B> for L {}

impl<B: Block> Join<Blocked<B>> for Blocked<B> {
    type Output = Self;
}
impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<Slice<L, P, A>> for Blocked<B> {
    type Output = Self;
}
impl<B: Block, L: Layout<Block = B>, P: Axis<A>, const A: usize> Join<Blocked<B>> for Slice<L, P, A> {
    type Output = Blocked<B>;
}
impl<L: Layout, P: Axis<A>, const A: usize, M: Layout<Block = L::Block>, Q: Axis<C>, const C: usize>
    Join<Slice<M, Q, C>> for Slice<L, P, A>
{
    type Output = Self;
}

/// A layout as data.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "it exists during compilation only")]
pub enum LayoutDescription {
    /// See [`Blocked`]; logarithms of the piece length and of the threads.
    Blocked {
        /// Base-2 logarithm of the piece length.
        vector: u32,
        /// Base-2 logarithm of the number of threads.
        threads: u32,
    },
    /// See [`Slice`].
    Slice {
        /// What the reduction left.
        reduced: LinearMap,
        /// The number of flat bits that it left.
        bits: u32,
        /// The [`Blocked`] layout that serves tiles of any other size.
        vector: u32,
        /// Base-2 logarithm of the number of threads.
        threads: u32,
    },
    /// See [`Accumulators`].
    Matrix {
        /// What of a product of matrices the tile is.
        part: MatrixPart,
        /// The [`Blocked`] layout that serves tiles too small for tensor cores.
        vector: u32,
        /// Base-2 logarithm of the number of threads.
        threads: u32,
    },
}

impl LayoutDescription {
    const fn map(&self, shape: &ShapeDescription) -> LinearMap {
        match *self {
            Self::Blocked { vector, threads } => LinearMap::blocked(shape.bits(), vector, threads),
            Self::Slice { reduced, bits, vector, threads } => {
                if bits == shape.bits() {
                    reduced
                } else {
                    LinearMap::blocked(shape.bits(), vector, threads)
                }
            }
            Self::Matrix { part, vector, threads } => {
                part.map(shape, vector, threads, arch::matrix::WARPGROUPS)
            }
        }
    }
}

/// The map of layout `L` for tiles of shape `S`.
pub(crate) struct Map<L, S>(PhantomData<(L, S)>);

impl<L: Layout, S: Shape> Map<L, S> {
    pub(crate) const MAP: LinearMap = L::DESCRIPTION.map(&S::DESCRIPTION);
    /// Checked where fragments are made: the type-level count and the map must tell the same story.
    pub(crate) const COUNTS_AGREE: () = assert!(
        1 << Self::MAP.register_bits() == <L::Registers<S> as PowerOfTwo>::COUNT,
        "cuda-tiles: a layout's register count and its map disagree"
    );
}

/// The plan of a reduction over axis `A`.
pub(crate) struct Reduction<S, L, const A: usize>(PhantomData<(S, L)>);

impl<S: Axis<A>, L: Layout, const A: usize> Reduction<S, L, A> {
    pub(crate) const PLAN: ReductionPlan =
        ReductionPlan::new(&Map::<L, S>::MAP, <S::Inner as PowerOfTwo>::LOG, <S::Length as PowerOfTwo>::LOG);
}

/// The layout of loads, stores and creations: row-major pieces of [`Block::Vector`] elements, one a thread.
///
/// Behind the last thread's piece follows the first thread's next one. A tile smaller than the block is held several times.
///
/// # On a GPU
///
/// A piece is what one instruction loads or stores, and the pieces of neighbouring lanes are neighbours in memory.
/// [`TiledView`](crate::view::TiledView#on-a-gpu) lists the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Blocked<B>(PhantomData<B>);

impl<B: Block> Layout for Blocked<B> {
    type Block = B;
    type Registers<S: Shape> = Maximum<Quotient<S::Count, B::Threads>, Minimum<B::Vector, S::Count>>;
    // The bits below the piece length, and those beyond piece length times threads.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = Product<
        Quotient<Minimum<B::Vector, High>, Minimum<B::Vector, Low>>,
        Quotient<High, Maximum<Low, Product<B::Vector, B::Threads>>>,
    >;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Blocked {
        vector: <B::Vector as PowerOfTwo>::LOG,
        threads: <B::Threads as PowerOfTwo>::LOG,
    };
}

/// The layout of a reduction's result, for a tile of shape `P` and layout `L` that is reduced over axis `A`.
///
/// Every thread keeps the results of its own rows, so that they broadcast back against the tile without any exchange. Tiles of another
/// size than the reduction's result lie as [`Blocked`].
///
/// # On a GPU
///
/// [`ops::reduce`](crate::ops::reduce#on-a-gpu) has the steps that lead to this layout, and their instructions.
#[derive(Clone, Copy, Debug)]
pub struct Slice<L, P, const A: usize>(PhantomData<(L, P)>);

/// 2 to the number of register bits of `L` within the axis `A` of `P`.
type ReducedRegisters<L, P, const A: usize> = <L as Layout>::RegistersWithin<
    P,
    <P as Axis<A>>::Inner,
    Product<<P as Axis<A>>::Inner, <P as Axis<A>>::Length>,
>;

impl<L: Layout, P: Axis<A>, const A: usize> Layout for Slice<L, P, A> {
    type Block = L::Block;
    type Registers<S: Shape> = IfEqual<
        S::Count,
        <P::Reduced as Shape>::Count,
        Quotient<L::Registers<P>, ReducedRegisters<L, P, A>>,
        <Blocked<L::Block> as Layout>::Registers<S>,
    >;
    // The range as the parent numbers it: what lies below the axis, and what lies above it, moved up.
    type RegistersWithin<S: Shape, Low: PowerOfTwo, High: PowerOfTwo> = IfEqual<
        S::Count,
        <P::Reduced as Shape>::Count,
        Product<
            L::RegistersWithin<P, Minimum<Low, P::Inner>, Minimum<High, P::Inner>>,
            L::RegistersWithin<
                P,
                Product<Maximum<Low, P::Inner>, P::Length>,
                Product<Maximum<High, P::Inner>, P::Length>,
            >,
        >,
        <Blocked<L::Block> as Layout>::RegistersWithin<S, Low, High>,
    >;
    const DESCRIPTION: LayoutDescription = LayoutDescription::Slice {
        reduced: Map::<L, P>::MAP.without(<P::Inner as PowerOfTwo>::LOG, <P::Length as PowerOfTwo>::LOG),
        bits: <P::Reduced as Shape>::DESCRIPTION.bits(),
        vector: <<L::Block as Block>::Vector as PowerOfTwo>::LOG,
        threads: <<L::Block as Block>::Threads as PowerOfTwo>::LOG,
    };
}
