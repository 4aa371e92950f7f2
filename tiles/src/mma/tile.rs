//! Products of tiles in registers.

use crate::arch;
use crate::context::Cx;
use crate::element::{Element, Number, Repack, f8e4m3, f8e5m2};
use crate::layout::{Accumulators, Block, Layout};
use crate::mma::shapes::{MatrixProduct, MultiplyShapes};
use crate::mma::types::{Multiply, MultiplyAccumulate};
use crate::mma::warp::{self, Whole};
use crate::mma::{cpu, simt};
use crate::shape::Shape;
use crate::tile::Tile;

/// `a * b + acc`, of matrices.
///
/// The result lies as `acc` does. Sums that [`Cx::accumulators`] began lie as tensor cores hold them, and stay there from step to step of a
/// loop; others, such as those of `cx.zeros(...)` or a tile that was loaded, are brought there and back at each call.
///
/// `a` has shape `(M, K)`, `b` `(K, N)` and `acc` `(M, N)`, or each with a batch in front, which in `a` and `b` may be 1. The
/// result has the type of `acc`; [`MultiplyAccumulate`] lists the types. A tile that was transposed is an operand like any other.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let a = cx.iota::<i8, _>(shape![2, 4]);
///     let b = cx.eye::<i8, _>(shape![4, 4]);
///     let sums = mma(a, b, cx.full(shape![2, 4], 100));
///     assert_eq!((sums.at([0, 0]), sums.at([1, 3])), (100, 107));
/// });
/// ```
#[inline(always)]
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
    let mut sums = *acc.spread::<S, Accumulators<L::Block>>().registers();
    if !arch::TILES_IN_REGISTERS {
        cpu::multiply::<T, U, C, SA, SB, S, L, M, _>(&a, &b, &mut sums);
    } else if const { Whole::<T, U, C, SA, S, L::Block>::SERVED } {
        warp::multiply::<T, U, C, SA, SB, S, L::Block, L, M>(&a, &b, &mut sums);
    } else {
        simt::multiply::<T, U, C, SA, SB, S, L::Block, L, M>(&a, &b, &mut sums);
    }
    Tile::<C, S, Accumulators<L::Block>>::from_registers(sums).spread()
}

/// [`mma`] of FP8 in a mode, of which there is one: [`FastAccumulation`].
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let (a, b) = (cx.ones::<f32, _>(shape![2, 4]).cast::<f8e4m3>(), cx.ones::<f32, _>(shape![4, 2]).cast::<f8e4m3>());
///     let sums = mma_with(a, b, cx.zeros::<f32, _>(shape![2, 2]), FastAccumulation);
///     assert_eq!(sums.at([1, 1]), 4.0);
/// });
/// ```
#[inline(always)]
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

/// Sums of products of FP8 may have fewer bits than `f32` where that is faster.
///
/// It makes a difference on Hopper, for operands that are streamed to its warpgroups: these add up FP8 products with about 14
/// bits, which otherwise are added to `f32` every so often. Elsewhere it changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastAccumulation;

/// Element types whose products [`FastAccumulation`] is for: FP8.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` have no fast accumulation",
    label = "expected f8e4m3 or f8e5m2",
    note = "products of other types are added up as exactly as they can be: `mma(a, b, acc)`"
)]
pub trait AccumulateFast: Element {}
impl AccumulateFast for f8e4m3 {}
impl AccumulateFast for f8e5m2 {}

/// The product of two matrices, by NumPy's rules for `@`: tiles of rank 1 to 3.
///
/// | `a` | `b` | result |
/// |---|---|---|
/// | `(M, K)` | `(K, N)` | `(M, N)` |
/// | `(K)` | `(K)` | rank 0 |
/// | `(K)` | `(K, N)` | `(N)` |
/// | `(M, K)` | `(K)` | `(M)` |
/// | `(B, M, K)` | `(B, K, N)` | `(B, M, N)`, where either `B` may be 1 or missing |
///
/// The result has the type in which products are added up: `i32` for integers of 8 bits, `f16` for `f16` and FP8, `f32` for `bf16`,
/// `tf32` and `f32`, and `f64`. CUDA Tile C++ does the same. Python's `@` converts the result to the type of the
/// operands, which cuts off integers and rounds FP8; `.cast::<...>()` does that here. For other sums use [`mma`].
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let a = cx.iota::<i32, _>(shape![2, 4]).cast::<f32>();
///     let b = cx.ones::<f32, _>(shape![4, 8]);
///     assert_eq!(matmul(a, b).at([1, 7]), 4.0 + 5.0 + 6.0 + 7.0);
///     assert_eq!(matmul(a, cx.ones::<f32, _>(shape![4])).at([0]), 6.0);
/// });
/// ```
#[inline(always)]
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
    let sums = Tile::<T::Sum, SA::Sum, Accumulators<L::Block>>::zeros();
    mma(a.reshape(SA::Left::default()), b.reshape(SA::Right::default()), sums).reshape(SA::Product::default())
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// [`mma`] as a method: this tile times `b`, added to `acc`.
    #[inline(always)]
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

    /// [`matmul`] as a method: this tile times `b`.
    #[inline(always)]
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

impl<B: Block> Cx<B> {
    /// Zeros that lie as [`mma`] leaves sums, to begin a loop with.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let mut sums = cx.accumulators::<i32, _>(shape![16, 8]);
    ///     for k in 1..4 {
    ///         sums = mma(cx.full(shape![16, 32], k as i8), cx.ones::<i8, _>(shape![32, 8]), sums);
    ///     }
    ///     assert_eq!(sums.at([15, 7]), 32 * (1 + 2 + 3));
    ///     // Other sums have the same values, and cost two exchanges a step.
    ///     let mut others = cx.zeros::<i32, _>(shape![16, 8]);
    ///     for k in 1..4 {
    ///         others = mma(cx.full(shape![16, 32], k as i8), cx.ones::<i8, _>(shape![32, 8]), others);
    ///     }
    ///     assert_eq!(others.at([15, 7]), sums.at([15, 7]));
    /// });
    /// ```
    #[inline(always)]
    pub fn accumulators<C: Number, S: Shape>(self, _shape: S) -> Tile<C, S, Accumulators<B>> {
        Tile::zeros()
    }
}
