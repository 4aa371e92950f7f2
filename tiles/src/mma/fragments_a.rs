//! Operand A as fragments in registers, which stay there from one multiplication to the next.

use crate::element::{Element, Repack, Word};
use crate::layout::{Block, Broadcasting, Conversion, Down, Layout, OperandALayout, Single};
use crate::mma::types::{Multiply, ProductOf};
use crate::registers::{PowerOfTwo, Product, Quotient, Registers};
use crate::shape::{D, Dimension, Shape};
use crate::tile::Tile;
use core::marker::PhantomData;
use typenum::U16;

/// The layout of fragments of operand A for accumulators of shape `S`.
type FragmentLayout<T, U, C, S, B> = OperandALayout<B, <T as ProductOf<U, C>>::Bytes, <S as Shape>::Columns>;

/// The fragments of an operand A of shape `SA`, for accumulators of type `C` and shape `S`.
pub(crate) struct FragmentsOfA<T, U, C, SA, S, B>
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    S: Shape,
    B: Block,
{
    registers: Registers<T, <FragmentLayout<T, U, C, S, B> as Layout>::Registers<SA>>,
    product: PhantomData<(U, C)>,
}

impl<T, U, C, SA, S, B> FragmentsOfA<T, U, C, SA, S, B>
where
    T: ProductOf<U, C>,
    U: Repack,
    C: Element,
    SA: Shape,
    S: Shape,
    B: Block,
{
    /// Registers along `k`.
    const UNITS: usize = <SA::Columns as PowerOfTwo>::COUNT / (4 * <T::Packed as PowerOfTwo>::COUNT);
    /// Pieces of 16 rows that a warp holds of a matrix.
    const TILES: usize =
        <Quotient<SA::Rows, Product<U16, Down<B, SA::Rows, S::Columns>>> as PowerOfTwo>::COUNT;

    /// Whether each thread of a tile of layout `L` has its fragments in its own registers. `k` is at least that of an instruction.
    pub(crate) const fn are_held<L: Layout<Block = B>>() -> bool {
        Self::UNITS >= T::UNITS
            && T::TENSOR_CORES
            && Conversion::<Single<SA, L>, SA, FragmentLayout<T, U, C, S, B>, Broadcasting>::PLAN.in_registers
    }

    /// The fragments of a tile; without a move where [`are_held`](Self::are_held).
    #[inline_on_device]
    pub(crate) fn new<L: Layout<Block = B>>(a: &Tile<T, SA, L>) -> Self {
        Self { registers: *a.spread::<SA, FragmentLayout<T, U, C, S, B>>().registers(), product: PhantomData }
    }

    /// The word of matrix `batch`, piece `tile` of 16 rows, half `half` of the piece, register `unit` along `k`.
    #[inline_on_device]
    pub(crate) fn word(&self, batch: usize, tile: usize, half: usize, unit: usize) -> T::Word {
        let word = half + 2 * (unit + Self::UNITS * (tile + Self::TILES * batch));
        let first = word * const { <T::Packed as PowerOfTwo>::COUNT };
        T::word_of_a(|part| self.registers.get(first + part))
    }

    /// The words of operand A of one `wgmma`: of matrix `batch` and piece `tile` of 16 rows in each warp, of instruction `step` along `k`
    /// from `first` on.
    #[inline_on_device]
    pub(crate) fn words(&self, batch: usize, tile: usize, first: usize, step: usize) -> [u32; 4] {
        let unit = first / const { 4 * <T::Packed as PowerOfTwo>::COUNT } + 2 * step;
        [(0, 0), (1, 0), (0, 1), (1, 1)]
            .map(|(half, next)| self.word(batch, tile, half, unit + next).widen() as u32)
    }
}

/// The layout of [`Tile::as_operand_a`].
type HeldA<T, L, const N: usize> = OperandALayout<
    <L as Layout>::Block,
    <T as ProductOf<T, <T as Multiply<T>>::Sum>>::Bytes,
    <D<N> as Dimension>::Count,
>;

impl<T: Multiply<T>, S: Shape, L: Layout> Tile<T, S, L> {
    /// The tile as operand A of products with `N` columns, in the registers that tensor cores read.
    ///
    /// [`mma`](crate::mma::mma) writes operands to shared memory at each call. An operand A that stays the same in a loop goes there once if
    /// this is called before the loop:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// The rows of `scores` are the products of 64 rows of `q` with all rows of `k`.
    /// #[kernel(threads = 128, min_blocks = 1)]
    /// pub fn all_scores(cx: Cx, q: Span<f16, (u32, D<64>)>, k: Span<f16, (u32, D<64>)>, scores: SpanMut<f32, (u32, u32)>) {
    ///     let scores = scores.partition(cx, shape![64, 64]);
    ///     let (row, k) = (cx.bid::<0>(), k.partition(cx, shape![64, 64]));
    ///     let q = q.partition(cx, shape![64, 64]).load_masked(Zero, (row, 0)).as_operand_a::<64>();
    ///     for j in 0..k.num_tiles(0) {
    ///         let product = mma(q, k.load_masked(Zero, (j, 0)).transposed_in_place::<0, 1>(), cx.accumulators::<f32>(shape![64, 64]));
    ///         scores.store_masked(product, (row, j));
    ///     }
    /// }
    /// ```
    ///
    /// The result is a tile as any other, and operations on single elements keep its layout. Accumulators of 16-bit elements, such as
    /// `mma(..).cast::<f16>()`, are such operands already.
    ///
    /// # Shapes
    ///
    /// `(M, K)` or `(batch, M, K)`. `N` is the number of columns of the accumulators; for products with others the tile moves at each call.
    ///
    /// # On a GPU
    ///
    /// The fragments of A of `mma.sync` and `wgmma.mma_async`, the layout [`OperandALayout`]: `M K / (32 warps)` elements a thread, where the
    /// warps are those along the rows. Tiles that are too small for tensor cores keep the layout [`Blocked`](crate::layout::Blocked).
    #[inline_on_device]
    pub fn as_operand_a<const N: usize>(self) -> Tile<T, S, HeldA<T, L, N>>
    where
        D<N>: Dimension,
    {
        self.spread()
    }
}
