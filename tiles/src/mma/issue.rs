//! How a product of operands in shared memory is issued: by warpgroups, by warps, or as products of whole tiles.

use crate::arch::TILES_IN_REGISTERS;
use crate::element::{Element, Repack};
use crate::layout::{Accumulators, Block, Blocked, OperandALayout, OperandBLayout};
use crate::memory::shared_tile_ref::SharedOperand;
use crate::memory::shared_tile_ref::reads_are_done;
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::pair::{Pair, PairOf, Sums};
use crate::mma::promoted::issue_promoted_by_warpgroups;
use crate::mma::tile::mma;
use crate::mma::types::ProductOf;
use crate::mma::warp::Factors;
use crate::mma::wgmma::issue_by_warpgroups;
use crate::mma::wgmma_registers::issue_across;
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{Dimension, Shape};
use crate::tile::Tile;

impl<C: Element, M: Dimension, N: Dimension, B: Block> Accumulator<C, (M, N), B> {
    /// Adds the product of an (M, K) factor, a stage or a tile in registers, and a (K, N) stage.
    ///
    /// On a GPU with warpgroups the product is under way when this returns.
    #[inline(always)]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B>,
        Y: SharedOperand<'k, K, N> + OperandB<'k, M, N, K, B, C, X>,
    {
        b.issue(self, a);
    }

    /// As [`mma`](Self::mma), with sums of all the bits that `C` has.
    ///
    /// Tensor cores that multiply 8-bit floats sum up the products to some 14 bits. Here they sum up this product alone, which is
    /// then added to the sums in `C`; it is done when this returns. With other types this is the same as `mma`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// #[kernel(threads = 128, producer = 32)]
    /// pub fn product(
    ///     roles: WarpRoles,
    ///     a: TmaLoad<f8e4m3, Shape2<64, 128>>,
    ///     b: TmaLoad<f8e4m3, Shape2<64, 128>>,
    ///     c: TmaStore<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(SharedTile<f8e4m3, Shape2<64, 128>>, SharedTile<f8e4m3, Shape2<64, 128>>), 4>,
    ///     #[shared] buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let (order, steps) = (Grouped::<8>, a.tile_counts().1);
    ///     let feed = roles.tile_indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, feed, move |cx, mut consumer| {
    ///         let mut buffer = buffer;
    ///         for tile in c.schedule(cx, order) {
    ///             let mut sums = Accumulator::zero(cx);
    ///             consumer.k_loop(steps).for_each(|(a, b)| sums.mma_promoted(a, b.transposed()));
    ///             tile.store(&mut buffer, sums.finish());
    ///         }
    ///     });
    /// }
    /// ```
    #[inline(always)]
    pub fn mma_promoted<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element: SharedMma<Y::Element, C>>,
        Y: SharedOperand<'k, K, N, Element: Repack>,
    {
        issue_promoted(self, PairOf::new(a, b));
    }
}

/// The right factor of a product with the left one `X` that sums of type `C` can take: any stage whose elements have such a product
/// with those of `X`, see [`SharedMma`].
// The right factor is `Self`: the compiler then waits for both factors before it says what is wrong with one of them.
pub trait OperandB<'k, M: Dimension, N: Dimension, K: Dimension, B: Block, C: Element, X: Sealed>:
    Sealed + Copy
{
    /// Puts the product of `a` and this factor under way, to be added to `sums`.
    #[doc(hidden)]
    fn issue(self, sums: &mut Accumulator<C, (M, N), B>, a: X);
}

impl<'k, M, N, K, B, C, X, Y> OperandB<'k, M, N, K, B, C, X> for Y
where
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    C: Element,
    X: OperandA<'k, M, K, B, Element: SharedMma<Y::Element, C>>,
    Y: SharedOperand<'k, K, N, Element: Repack>,
{
    #[inline(always)]
    fn issue(self, sums: &mut Accumulator<C, (M, N), B>, a: X) {
        issue(sums, PairOf::new(a, self));
    }
}

/// Puts the product of a pair under way, to be added to `sums`.
#[inline(always)]
pub(crate) fn issue<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    if const { P::BY_WARPGROUPS && P::THROUGH_REGISTERS } {
        // SAFETY: just asked.
        unsafe { issue_across(sums, pair) };
    } else if const { P::BY_WARPGROUPS } {
        // SAFETY: just asked.
        unsafe { issue_by_warpgroups(sums, pair) };
    } else {
        issue_by_warps::<false, P>(sums, pair);
    }
}

/// Adds the product of a pair to `sums`, what tensor cores sum up to fewer bits after it was summed up by itself.
#[inline(always)]
pub(crate) fn issue_promoted<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    if const { !<P::T as SharedMma<P::U, P::Sum>>::SHORT } {
        issue(sums, pair);
    } else if const { P::BY_WARPGROUPS } {
        // SAFETY: just asked.
        unsafe { issue_promoted_by_warpgroups(sums, pair) };
    } else {
        issue_by_warps::<true, P>(sums, pair);
    }
}

/// The product by each warp for itself, on fragments in registers; on the CPU, and for tiles too small for that, by the product
/// of whole tiles. With `APART`, each instruction's product is summed up by itself.
#[inline(always)]
fn issue_by_warps<'k, const APART: bool, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    sums.clear_unless_set();
    if !TILES_IN_REGISTERS || const { !P::BY_FRAGMENTS } {
        let product = mma(
            pair.left().tile::<Blocked<P::Block>>(),
            pair.right().tile::<Blocked<P::Block>>(),
            Tile::<P::Sum, (P::M, P::N), Accumulators<P::Block>>::from_registers(sums.sums),
        );
        sums.sums = *product.registers();
        return;
    }
    if const { APART || size_of::<<P::T as ProductOf<P::U, P::Sum>>::Word>() != 4 } {
        // SAFETY: all threads of the block run this alike. Warps multiply fragments of these factors, by the first condition above.
        unsafe { each_step(pair, |factors| factors.multiply::<APART>(&mut sums.sums)) };
        return;
    }
    let mut ahead = None;
    let step = |factors| {
        // Tensor cores are busy with the fragments before while these are on their way.
        multiply(&ahead, sums);
        ahead = Some(factors);
    };
    // SAFETY: as above.
    unsafe { each_step(pair, step) };
    multiply(&ahead, sums);
}

/// The fragments of both factors of a pair that one instruction takes.
type FactorsOf<'k, P> = Factors<
    <P as Pair<'k>>::T,
    <P as Pair<'k>>::U,
    <P as Pair<'k>>::Sum,
    (<P as Pair<'k>>::M, <P as Pair<'k>>::N),
    <P as Pair<'k>>::Block,
>;
/// What that instruction takes of the contracted axis.
type StepOf<'k, P> = <<P as Pair<'k>>::T as SharedMma<<P as Pair<'k>>::U, <P as Pair<'k>>::Sum>>::Step;
/// The bytes of an element.
type BytesOf<'k, P> = <<P as Pair<'k>>::T as ProductOf<<P as Pair<'k>>::U, <P as Pair<'k>>::Sum>>::Bytes;
/// The layout of the left factor's fragments.
type LeftLayout<'k, P> =
    OperandALayout<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::N as Dimension>::Count>;
/// The layout of the right factor's.
type RightLayout<'k, P> =
    OperandBLayout<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::M as Dimension>::Count>;

/// Loads the fragments of both factors for each instruction along the contracted axis, and gives them to `take`.
///
/// # Safety
/// Warps have a product of fragments of these factors: [`Pair::BY_FRAGMENTS`].
#[inline(always)]
pub(crate) unsafe fn each_step<'k, P: Pair<'k>>(pair: P, mut take: impl FnMut(FactorsOf<'k, P>)) {
    let (a, b) = (pair.left(), pair.right());
    <P::K as Dimension>::Count::unroll(0, P::STEP, &mut |k| {
        // SAFETY: the contracted axis is as long as a step or longer, so that it has whole ones, and `k` is the first of one. A step
        // of elements of 64 bits is 16.
        let (left, right) = unsafe {
            (
                a.columns::<StepOf<'k, P>, LeftLayout<'k, P>>(k),
                b.fragments::<0, StepOf<'k, P>, P::N, RightLayout<'k, P>>(
                    P::Left::GEOMETRY.is_some(),
                    [k, 0],
                ),
            )
        };
        take(Factors::of(&left, &right));
    });
    reads_are_done();
}

/// Adds the product of fragments that were loaded, if there are any.
#[inline(always)]
fn multiply<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
    loaded: &Option<Factors<T, U, C, S, B>>,
    sums: &mut Accumulator<C, S, B>,
) {
    if let Some(factors) = loaded {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles: fragments are loaded where they do.
        unsafe { factors.multiply::<false>(&mut sums.sums) }
    }
}
