//! Multiplication of tiles in registers.

use crate::arch;
use crate::element::{Element, Repack, f8e4m3, f8e5m2};
use crate::layout::{Accumulators, Blocked, Layout, is_transposed_in_place};
use crate::mma::shapes::{MatrixProduct, MultiplyShapes, assert_rows_and_depth_are_whole};
use crate::mma::staging::a_lies_by_columns;
use crate::mma::types::{Multiply, MultiplyAccumulate};
use crate::mma::warp::{self, Whole};
use crate::mma::warpgroups::{self, Operands};
use crate::mma::{cpu, simt};
use crate::shape::Shape;
use crate::tile::Tile;

/// Matrix multiply-accumulate: `a * b + acc`.
///
/// Accumulators from [`Cx::accumulators`](crate::tile::Create::accumulators) stay in the layout of tensor cores throughout a loop. Others,
/// such as `cx.zeros(...)` or a loaded tile, change their layout twice at each call.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let a = cx.iota::<i8>(shape![2, 4]);
///     let b = cx.eye::<i8>(shape![4, 4]);
///     let acc = mma(a, b, cx.full(shape![2, 4], 100));
///     assert_eq!((acc.at([0, 0]), acc.at([1, 3])), (100, 107));
/// });
/// ```
///
/// # Shapes
///
/// `a` is `(M, K)`, `b` is `(K, N)` and `acc` is `(M, N)`, or each with a batch in front, which in `a` and `b` may be 1. The
/// result has the type and the layout of `acc`; [`MultiplyAccumulate`] lists the types.
///
/// Transposed tiles are operands like any other. [`transposed_in_place`](Tile::transposed_in_place) is the transpose for operands whose memory
/// holds their transpose: `mma(a, b.load_masked(Zero, (j, k)).transposed_in_place::<0, 1>(), acc)`.
///
/// # On a GPU
///
/// Both operands go to shared memory by the widest stores that their layouts allow, but for an operand A of which each thread has its part:
/// one from [`as_operand_a`](Tile::as_operand_a), which a loop lays out once, and accumulators of 16-bit elements. Tensor cores read transposes
/// of operand B as threads hold them, and those of operand A of 2 and 8 bytes. From compute capability
/// 9.0 on, a block of at least 128 threads multiplies `f16`, `bf16`, `tf32`, `i8` and `u8` by `wgmma.mma_async`, if there are 64 rows for
/// each 128 threads (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions"). Elsewhere `ldmatrix` loads fragments
/// and `mma.sync` multiplies them ("Warp Level Matrix Multiply-Accumulate Instructions"). The result has the layout [`Accumulators`].
/// Shapes that are too small, and `f32`, become fused multiply-adds.
#[inline_on_device]
#[doc(alias("dot"))]
pub fn mma<T, U, C, SA, SB, S, L, M, N>(
    a: Tile<T, SA, L>,
    b: Tile<U, SB, M>,
    acc: Tile<C, S, N>,
) -> Tile<C, S, N>
where
    T: MultiplyAccumulate<U, C>,
    U: Repack,
    C: Element,
    SA: MultiplyShapes<SB, S>,
    SB: Shape,
    S: Shape,
    L: Layout,
    M: Layout<Block = L::Block>,
    N: Layout<Block = L::Block>,
{
    const { assert_rows_and_depth_are_whole::<SA>() };
    // Tensor cores do not transpose such elements, and all stores of a warp would meet in a few banks of shared memory.
    if const { arch::TILES_IN_REGISTERS && is_transposed_in_place::<L>() && !a_lies_by_columns::<T, L>() } {
        return mma(a.spread::<SA, Blocked<L::Block>>(), b, acc);
    }
    let mut acc = *acc.spread::<S, Accumulators<L::Block>>().registers();
    if !arch::TILES_IN_REGISTERS {
        cpu::multiply::<T, U, C, SA, SB, S, L, M, _>(&a, &b, &mut acc);
    } else if const { Operands::<T, U, C, SA, S, L, M>::SERVED } {
        warpgroups::multiply::<T, U, C, SA, SB, S, L::Block, L, M>(&a, &b, &mut acc);
    } else if const { Whole::<T, U, C, SA, S, L, M>::SERVED } {
        warp::multiply::<T, U, C, SA, SB, S, L::Block, L, M>(&a, &b, &mut acc);
    } else {
        simt::Multiplication::<T, U, C, SA, SB, S, L, M>::multiply(&a, &b, &mut acc);
    }
    Tile::<C, S, Accumulators<L::Block>>::from_registers(acc).spread()
}

/// [`mma`] of FP8 in a mode; there is one mode, [`FastAccumulation`].
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let (a, b) = (cx.ones::<f32>(shape![2, 4]).cast::<f8e4m3>(), cx.ones::<f32>(shape![4, 2]).cast::<f8e4m3>());
///     let acc = mma_with(a, b, cx.zeros::<f32>(shape![2, 2]), FastAccumulation);
///     assert_eq!(acc.at([1, 1]), 4.0);
/// });
/// ```
#[inline_on_device]
pub fn mma_with<T, U, C, SA, SB, S, L, M, N>(
    a: Tile<T, SA, L>,
    b: Tile<U, SB, M>,
    acc: Tile<C, S, N>,
    _mode: FastAccumulation,
) -> Tile<C, S, N>
where
    T: MultiplyAccumulate<U, C> + AccumulateFast,
    U: Repack,
    C: Element,
    SA: MultiplyShapes<SB, S>,
    SB: Shape,
    S: Shape,
    L: Layout,
    M: Layout<Block = L::Block>,
    N: Layout<Block = L::Block>,
{
    mma(a, b, acc)
}

/// A mode: products of FP8 may accumulate in fewer bits than `f32` where that is faster.
///
/// It makes a difference on Hopper, for operands in a pipeline's stages. Hopper's warpgroups accumulate FP8 products in about
/// 14 bits. Without this mode, these accumulators are added to `f32` every so often. Elsewhere the mode changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias("use_fast_acc", "max_num_imprecise_acc"))]
pub struct FastAccumulation;

/// Element types whose products [`FastAccumulation`] is for: FP8.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` have no fast accumulation",
    label = "expected f8e4m3 or f8e5m2",
    note = "products of other types accumulate as exactly as they can: `mma(a, b, acc)`"
)]
pub trait AccumulateFast: Element {}
impl AccumulateFast for f8e4m3 {}
impl AccumulateFast for f8e5m2 {}

/// The product of two matrices, by NumPy's rules for `@`: tiles of rank 1 to 3.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let a = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
///     let b = cx.ones::<f32>(shape![4, 8]);
///     assert_eq!(matmul(a, b).at([1, 7]), 4.0 + 5.0 + 6.0 + 7.0);
///     assert_eq!(matmul(a, cx.ones::<f32>(shape![4])).at([0]), 6.0);
/// });
/// ```
///
/// # Shapes
///
/// | `a` | `b` | result |
/// |---|---|---|
/// | `(M, K)` | `(K, N)` | `(M, N)` |
/// | `(K)` | `(K)` | rank 0 |
/// | `(K)` | `(K, N)` | `(N)` |
/// | `(M, K)` | `(K)` | `(M)` |
/// | `(B, M, K)` | `(B, K, N)` | `(B, M, N)`, where either `B` may be 1 or missing |
///
/// # Accuracy
///
/// The result has the type in which products accumulate: `i32` for integers of 8 bits, `f16` for `f16` and FP8, `f32` for
/// `bf16`, `tf32` and `f32`, and `f64`. CUDA Tile C++ does the same. Python's `@` converts the result to the type of the
/// operands, which truncates integers and rounds FP8; `.cast::<...>()` does that here. For other accumulators use [`mma`].
///
/// # On a GPU
///
/// As [`mma`], from accumulators of zeros. The result has the layout [`Accumulators`].
#[inline_on_device]
pub fn matmul<T, U, SA, SB, L, M>(
    a: Tile<T, SA, L>,
    b: Tile<U, SB, M>,
) -> Tile<T::Sum, SA::Product, Accumulators<L::Block>>
where
    T: Multiply<U>,
    U: Repack,
    SA: MatrixProduct<SB>,
    SB: Shape,
    L: Layout,
    M: Layout<Block = L::Block>,
{
    const {
        assert!(
            SA::Left::LEN == SA::LEN && SA::Right::LEN == SB::LEN && SA::Sum::LEN == SA::Product::LEN,
            "cuda-tiles: a product of matrices has shapes of other sizes"
        )
    };
    let acc = Tile::<T::Sum, SA::Sum, Accumulators<L::Block>>::zeros();
    mma(a.reshape(SA::Left::default()), b.reshape(SA::Right::default()), acc).reshape(SA::Product::default())
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Matrix multiply-accumulate: `self * b + acc`, the function [`mma`] as a method.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = (cx.ones::<i8>(shape![16, 32]), cx.ones::<i8>(shape![32, 8]));
    ///     assert_eq!(a.mma(b, cx.accumulators::<i32>(shape![16, 8])).at([0, 0]), 32);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// `ldmatrix` and `mma.sync`, into the layout [`Accumulators`] (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"): [`mma`].
    #[inline_on_device]
    pub fn mma<U, C, SB, SC, M, N>(self, b: Tile<U, SB, M>, acc: Tile<C, SC, N>) -> Tile<C, SC, N>
    where
        T: MultiplyAccumulate<U, C>,
        U: Repack,
        C: Element,
        S: MultiplyShapes<SB, SC>,
        SB: Shape,
        SC: Shape,
        M: Layout<Block = L::Block>,
        N: Layout<Block = L::Block>,
    {
        mma(self, b, acc)
    }

    /// The product of two matrices: `self * b`, the function [`matmul`] as a method.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let a = cx.iota::<i32>(shape![2, 4]).cast::<f32>();
    ///     assert_eq!(a.matmul(cx.ones::<f32>(shape![4, 8])).at([1, 7]), 4.0 + 5.0 + 6.0 + 7.0);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// [`matmul`] has the shapes and types.
    #[inline_on_device]
    pub fn matmul<U, SB, M>(self, b: Tile<U, SB, M>) -> Tile<T::Sum, S::Product, Accumulators<L::Block>>
    where
        T: Multiply<U>,
        U: Repack,
        S: MatrixProduct<SB>,
        SB: Shape,
        M: Layout<Block = L::Block>,
    {
        matmul(self, b)
    }
}
