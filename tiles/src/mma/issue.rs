//! The choice of instructions for operands in shared memory: `wgmma`, `mma.sync`, or a multiplication of whole tiles.

use crate::arch::TILES_IN_REGISTERS;
use crate::element::{Element, Repack};
use crate::layout::{Accumulators, Block, Blocked, OperandALayout, OperandBLayout};
use crate::memory::reads::Reads;
use crate::memory::shared_tile_ref::SharedOperand;
use crate::mma::accumulator::Accumulator;
use crate::mma::instructions::SharedMma;
use crate::mma::operand::OperandA;
use crate::mma::pair::{AccumulatorOf, Pair, PairOf};
use crate::mma::promoted::issue_promoted_by_warpgroups;
use crate::mma::tile::mma;
use crate::mma::types::ProductOf;
use crate::mma::warp::OperandFragments;
use crate::mma::wgmma::issue_by_warpgroups;
use crate::mma::wgmma_registers::issue_mn_major_a_by_registers;
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{Dimension, Shape};
use crate::tile::Tile;

impl<C: Element, M: Dimension, N: Dimension, B: Block> Accumulator<C, (M, N), B> {
    /// Adds the product of A and B.
    ///
    /// On a GPU with warpgroups the multiplication is under way when this returns.
    ///
    /// # Shapes
    ///
    /// A is (M, K): a tile in shared memory, its transpose, or a tile in registers. B is (K, N): a tile in shared memory, or
    /// its transpose.
    ///
    /// # On a GPU
    ///
    /// `wgmma.mma_async` from compute capability 9.0 on (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
    /// Before, and where warpgroups have no instruction for the operands, `ldmatrix` loads fragments and `mma.sync` multiplies them.
    #[inline_on_device]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B>,
        Y: SharedOperand<'k, K, N> + OperandB<'k, M, N, K, B, C, X>,
    {
        b.issue(self, a);
    }

    /// As [`mma`](Self::mma), with promoted accumulation: the accumulators have all the bits of `C`.
    ///
    /// Tensor cores accumulate products of 8-bit floats in some 14 bits. Here they accumulate this product alone. It is then
    /// added to the accumulators in `C`, and is done when this returns. With other types this is the same as `mma`.
    /// [`KLoop::accumulate_promoted`](crate::pipeline::KLoop::accumulate_promoted) adds one product while tensor cores accumulate the next.
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
    ///     let loads = roles.tile_indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         let mut buffer = buffer;
    ///         for tile in c.schedule(cx, order) {
    ///             let mut acc = cx.zero_accumulator(shape![64, 64]);
    ///             consumer.k_loop(steps).for_each(|(a, b)| acc.mma_promoted(a, b.transposed()));
    ///             tile.store(&mut buffer, acc.finish());
    ///         }
    ///     });
    /// }
    /// ```
    #[inline_on_device]
    pub fn mma_promoted<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: OperandA<'k, M, K, B, Element: SharedMma<Y::Element, C>>,
        Y: SharedOperand<'k, K, N, Element: Repack>,
    {
        issue_promoted(self, PairOf::new(a, b));
    }
}

/// An operand B that multiplies with the operand A `X` into accumulators of type `C`: any tile in shared memory whose elements
/// multiply with those of `X`, see [`SharedMma`].
// `Self` is operand B: the compiler then waits for both operands before it says what is wrong with one of them.
pub trait OperandB<'k, M: Dimension, N: Dimension, K: Dimension, B: Block, C: Element, X: Sealed>:
    Sealed + Copy
{
    /// Starts the multiplication of `a` and this operand, to be added to `acc`.
    #[doc(hidden)]
    fn issue(self, acc: &mut Accumulator<C, (M, N), B>, a: X);
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
    #[inline_on_device]
    fn issue(self, acc: &mut Accumulator<C, (M, N), B>, a: X) {
        issue(acc, PairOf::new(a, self));
    }
}

/// Starts the multiplication of a pair, to be added to `acc`.
#[inline_on_device]
pub(crate) fn issue<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    if const { P::BY_WARPGROUPS && P::THROUGH_REGISTERS } {
        // SAFETY: just asked.
        unsafe { issue_mn_major_a_by_registers(acc, pair) };
    } else if const { P::BY_WARPGROUPS } {
        // SAFETY: just asked.
        unsafe { issue_by_warpgroups(acc, pair) };
    } else {
        issue_by_warps::<false, P>(acc, pair);
    }
}

/// Adds the product of a pair to `acc`, with promoted accumulation where tensor cores accumulate in fewer bits.
#[inline_on_device]
pub(crate) fn issue_promoted<'k, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    if const { !<P::T as SharedMma<P::U, P::C>>::SHORT } {
        issue(acc, pair);
    } else if const { P::BY_WARPGROUPS } {
        // SAFETY: just asked.
        unsafe { issue_promoted_by_warpgroups(acc, pair) };
    } else {
        issue_by_warps::<true, P>(acc, pair);
    }
}

/// The multiplication by single warps, on fragments in registers. On the CPU, and for tiles too small for fragments, it is the
/// multiplication of whole tiles. With `PROMOTED`, each instruction's product is accumulated alone.
#[inline_on_device]
fn issue_by_warps<'k, const PROMOTED: bool, P: Pair<'k>>(acc: &mut AccumulatorOf<'k, P>, pair: P) {
    acc.clear_unless_set();
    if !TILES_IN_REGISTERS || const { !P::BY_FRAGMENTS } {
        let product = mma(
            pair.a().tile::<Blocked<P::Block>>(),
            pair.b().tile::<Blocked<P::Block>>(),
            Tile::<P::C, (P::M, P::N), Accumulators<P::Block>>::from_registers(acc.registers),
        );
        acc.registers = *product.registers();
        return;
    }
    if const { PROMOTED || size_of::<<P::T as ProductOf<P::U, P::C>>::Word>() != 4 } {
        // SAFETY: all threads of the block run this alike. Warps multiply fragments of these operands, by the first condition
        // above.
        unsafe { each_step(pair, |fragments| fragments.multiply::<PROMOTED>(&mut acc.registers)) };
        return;
    }
    let mut ahead = None;
    let step = |fragments| {
        // The tensor cores multiply the fragments before while these are loaded.
        multiply(&ahead, acc);
        ahead = Some(fragments);
    };
    // SAFETY: as above.
    unsafe { each_step(pair, step) };
    multiply(&ahead, acc);
}

/// The fragments of both operands of a pair for one instruction.
type OperandFragmentsOf<'k, P> = OperandFragments<
    <P as Pair<'k>>::T,
    <P as Pair<'k>>::U,
    <P as Pair<'k>>::C,
    (<P as Pair<'k>>::M, <P as Pair<'k>>::N),
    <P as Pair<'k>>::Block,
>;
/// How much of the contracted axis one instruction takes.
type StepOf<'k, P> = <<P as Pair<'k>>::T as SharedMma<<P as Pair<'k>>::U, <P as Pair<'k>>::C>>::Step;
/// The bytes of an element.
type BytesOf<'k, P> = <<P as Pair<'k>>::T as ProductOf<<P as Pair<'k>>::U, <P as Pair<'k>>::C>>::Bytes;
/// The layout of operand A's fragments.
type ALayout<'k, P> =
    OperandALayout<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::N as Dimension>::Count>;
/// The layout of operand B's fragments.
type BLayout<'k, P> =
    OperandBLayout<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::M as Dimension>::Count>;

/// Loads the fragments of both operands for each instruction along the contracted axis, and gives them to `take`.
///
/// # Safety
/// Warps have a multiplication of fragments of these operands: [`Pair::BY_FRAGMENTS`].
#[inline_on_device]
pub(crate) unsafe fn each_step<'k, P: Pair<'k>>(pair: P, mut take: impl FnMut(OperandFragmentsOf<'k, P>)) {
    let (a, b) = (pair.a(), pair.b());
    <P::K as Dimension>::Count::unroll(0, P::STEP, &mut |k| {
        // SAFETY: the contracted axis is at least a step long and consists of whole steps; `k` is the first element of one. A
        // step of elements of 64 bits is 16.
        let (a, b) = unsafe {
            (
                a.columns::<StepOf<'k, P>, ALayout<'k, P>>(k),
                b.fragments::<0, StepOf<'k, P>, P::N, BLayout<'k, P>>(P::A::GEOMETRY.is_some(), [k, 0]),
            )
        };
        take(OperandFragments::of(&a, &b));
    });
    Reads::both_are_done(a.reads(), b.reads());
}

/// Multiplies fragments that were loaded, if there are any.
#[inline_on_device]
fn multiply<T: ProductOf<U, C>, U: Repack, C: Element, S: Shape, B: Block>(
    loaded: &Option<OperandFragments<T, U, C, S, B>>,
    acc: &mut Accumulator<C, S, B>,
) {
    if let Some(fragments) = loaded {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles: fragments exist only where they
        // do.
        unsafe { fragments.multiply::<false>(&mut acc.registers) }
    }
}
