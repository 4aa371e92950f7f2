//! How products of stages are put under way: by whole warpgroups where the target has such products for the elements, else by
//! warps on fragments in registers.

use super::accumulator::Accumulator;
use super::across::issue_across;
use super::apart::issue_apart;
use super::pair::{Pair, PairOf, Sums};
use super::progress::Reads;
use super::stage::{Stage, StagedFactor, Transposed, reads_are_done};
use super::staged::Geometry;
use super::warpgroups::issue_by_warpgroups;
use crate::arch::TILES_IN_REGISTERS;
use crate::arch::matrix::{FP8_PRODUCTS, WARPGROUPS};
use crate::arch::threads::Address;
use crate::arch::warpgroup;
use crate::element::{Element, Repack, bf16, f8e4m3, f8e5m2, f16, tf32};
use crate::layout::{Accumulators, Block, Blocked, Layout, LeftOperand, RightOperand};
use crate::ops::matrix::{Factors, MultiplyAccumulate, ProductOf, mma};
use crate::registers::PowerOfTwo;
use crate::sealed::Sealed;
use crate::shape::{D, Dimension, Shape};
use crate::tile::Tile;

/// Elements whose products with elements of type `U` are accumulated in `C`, from stages.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` and `{U}` are not accumulated in `{C}`",
    label = "no such product",
    note = "f16, bf16, tf32, f8e4m3, f8e5m2 with themselves into f32, i8 and u8 into i32, f64 into f64"
)]
pub trait StagedProduct<U: Repack, C: Element>: MultiplyAccumulate<U, C> {
    /// How much of the contracted axis one instruction of a warp takes.
    #[doc(hidden)]
    type Step: Dimension;
    /// Whether warpgroups have the product.
    #[doc(hidden)]
    const WARPGROUPS: bool = false;
    /// Whether tensor cores sum it up to fewer bits than `C` has.
    #[doc(hidden)]
    const SHORT: bool = false;
    /// The instruction on factors in shared memory.
    ///
    /// # Safety
    /// As for `arch::warpgroup::f16_f32::shared`.
    #[doc(hidden)]
    unsafe fn shared<const TA: i32, const TB: i32>(
        _columns: usize,
        _sums: *mut u32,
        _add: u32,
        _a: u64,
        _b: u64,
    ) {
    }
    /// The instruction on a left factor in registers.
    ///
    /// # Safety
    /// As for `arch::warpgroup::f16_f32::registers`.
    #[doc(hidden)]
    unsafe fn registers<const TB: i32>(_columns: usize, _sums: *mut u32, _add: u32, _a: [u32; 4], _b: u64) {}
}

macro_rules! warpgroup_products {
    ($($left:ident $right:ident $sum:ident $instruction:ident $step:literal $short:expr;)*) => { $(
        impl StagedProduct<$right, $sum> for $left {
            type Step = D<$step>;
            const WARPGROUPS: bool = true;
            const SHORT: bool = $short;
            #[inline(always)]
            unsafe fn shared<const TA: i32, const TB: i32>(columns: usize, sums: *mut u32, add: u32, a: u64, b: u64) {
                // SAFETY: the same contract.
                unsafe { warpgroup::$instruction::shared::<TA, TB>(columns, sums, add, a, b) }
            }
            #[inline(always)]
            unsafe fn registers<const TB: i32>(columns: usize, sums: *mut u32, add: u32, a: [u32; 4], b: u64) {
                // SAFETY: the same contract.
                unsafe { warpgroup::$instruction::registers::<TB>(columns, sums, add, a, b) }
            }
        }
    )*
    };
}
warpgroup_products! {
    f16 f16 f32 f16_f32 16 false;
    bf16 bf16 f32 bf16_f32 16 false;
    tf32 tf32 f32 tf32_f32 8 false;
    f8e4m3 f8e4m3 f32 e4m3_f32 32 FP8_PRODUCTS || WARPGROUPS;
    f8e5m2 f8e5m2 f32 e5m2_f32 32 FP8_PRODUCTS || WARPGROUPS;
    i8 i8 i32 i8_i8 32 false;
    u8 u8 i32 u8_u8 32 false;
}
impl StagedProduct<f64, f64> for f64 {
    type Step = D<16>;
}
// Warpgroups have these products from PTX ISA 8.4 on, which is newer than the oldest driver that kernels are built for.
impl StagedProduct<u8, i32> for i8 {
    type Step = D<32>;
}
impl StagedProduct<i8, i32> for u8 {
    type Step = D<32>;
}

/// The left factor of a product whose right one is a stage: a stage as well, or a tile in registers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no left factor of shape ({M}, {K})",
    label = "expected a stage or a tile of this shape",
    note = "the product of an (M, K) factor and a (K, N) stage is added to (M, N) accumulators"
)]
pub trait LeftFactor<'k, M: Dimension, K: Dimension, B: Block>: Sealed + Copy {
    /// Its elements.
    type Element: Element;
    /// Whether it is read across the rows of its stage.
    #[doc(hidden)]
    const TRANSPOSED: bool;
    /// How its stage lies, if it has one.
    #[doc(hidden)]
    const GEOMETRY: Option<Geometry>;
    /// Where its stage lies.
    #[doc(hidden)]
    fn address(self) -> Option<Address>;
    /// Who reads the message of its stage.
    #[doc(hidden)]
    fn reads(self) -> Option<&'k Reads>;
    /// Registers of a tile in the accumulators' layout, from number `first` on, as words.
    ///
    /// # Safety
    /// Of a tile the elements have 16 bits.
    #[doc(hidden)]
    unsafe fn words(self, first: usize) -> [u32; 4];
    /// The tile in registers, in layout `L`.
    #[doc(hidden)]
    fn tile<L: Layout<Block = B>>(self) -> Tile<Self::Element, (M, K), L>;
    /// Its columns from `k` on, as the fragments that layout `L` is.
    ///
    /// # Safety
    /// From `k` on there are `P` columns, and `k` is a multiple of as many; of elements of 64 bits the columns are a multiple of 16.
    #[doc(hidden)]
    unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<Self::Element, (M, P), L>;
}

macro_rules! staged_left_factors {
    ($(($($factor:tt)*) ($rows:ident, $columns:ident);)*) => { $(
        impl<'k, T: Element, M: Dimension, K: Dimension, B: Block> LeftFactor<'k, M, K, B> for $($factor)* {
            type Element = T;
            const TRANSPOSED: bool = <Self as StagedFactor<'k, M, K>>::TRANSPOSED;
            const GEOMETRY: Option<Geometry> = Some(<Self as StagedFactor<'k, M, K>>::GEOMETRY);
            #[inline(always)]
            fn address(self) -> Option<Address> {
                Some(StagedFactor::<'k, M, K>::address(self))
            }
            #[inline(always)]
            fn reads(self) -> Option<&'k Reads> {
                Some(StagedFactor::<'k, M, K>::reads(self))
            }
            #[inline(always)]
            unsafe fn words(self, _first: usize) -> [u32; 4] {
                [0; 4]
            }
            #[inline(always)]
            fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
                StagedFactor::<'k, M, K>::tile(self)
            }
            #[inline(always)]
            unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
                // SAFETY: the same contract.
                unsafe { StagedFactor::<'k, M, K>::fragments::<1, M, P, L>(self, true, [0, k]) }
            }
        }
    )* };
}
staged_left_factors! {
    (Stage<'k, T, (M, K)>) (M, K);
    (Transposed<Stage<'k, T, (K, M)>>) (K, M);
}

impl<'k, T: Element, M: Dimension, K: Dimension, B: Block> LeftFactor<'k, M, K, B>
    for Tile<T, (M, K), Accumulators<B>>
{
    type Element = T;
    const TRANSPOSED: bool = false;
    const GEOMETRY: Option<Geometry> = None;
    #[inline(always)]
    fn address(self) -> Option<Address> {
        None
    }
    #[inline(always)]
    fn reads(self) -> Option<&'k Reads> {
        None
    }
    #[inline(always)]
    unsafe fn words(self, first: usize) -> [u32; 4] {
        // The accumulators' fragment of a tile of 16-bit elements is the instruction's fragment of a left factor: its registers
        // hold pairs of columns, of both eights of rows, of the next eight columns.
        let own = self.registers();
        // SAFETY: the elements have 16 bits by the same contract.
        [0, 2, 4, 6].map(|k| unsafe { pair(own.get(first + k), own.get(first + k + 1)) })
    }
    #[inline(always)]
    fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
        self.spread()
    }
    #[inline(always)]
    unsafe fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
        let number = k / const { <P::Count as PowerOfTwo>::COUNT };
        self.extract::<(M, P), 2>(Default::default(), [0, number as u32]).spread()
    }
}

/// The right factor of a product with the left one `X` that sums of type `C` can take: any stage whose elements have such a product
/// with those of `X`, see [`StagedProduct`].
// The right factor is `Self`: the compiler then waits for both factors before it says what is wrong with one of them.
pub trait RightFactor<'k, M: Dimension, N: Dimension, K: Dimension, B: Block, C: Element, X: Sealed>:
    Sealed + Copy
{
    /// Puts the product of `a` and this factor under way, to be added to `sums`.
    #[doc(hidden)]
    fn issue(self, sums: &mut Accumulator<C, (M, N), B>, a: X);
}

impl<'k, M, N, K, B, C, X, Y> RightFactor<'k, M, N, K, B, C, X> for Y
where
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    C: Element,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    #[inline(always)]
    fn issue(self, sums: &mut Accumulator<C, (M, N), B>, a: X) {
        issue(sums, PairOf::new(a, self));
    }
}

/// Puts the product of a pair under way, to be added to `sums`.
#[inline(always)]
fn issue<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
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

/// Two elements of 16 bits as a word, the first one lowest.
///
/// # Safety
/// The elements have 16 bits.
#[inline(always)]
pub(super) unsafe fn pair<T: Element>(low: T, high: T) -> u32 {
    let bits = |x: T| {
        let bits = x.to_bits();
        // SAFETY: the element has 16 bits by the same contract, and any bits are a `u16`.
        u32::from(unsafe { core::ptr::from_ref(&bits).cast::<u16>().read() })
    };
    bits(low) | bits(high) << 16
}

/// Adds the product of a pair to `sums`, what tensor cores sum up to fewer bits after it was summed up by itself.
#[inline(always)]
pub(super) fn issue_precisely<'k, P: Pair<'k>>(sums: &mut Sums<'k, P>, pair: P) {
    if const { !<P::T as StagedProduct<P::U, P::Sum>>::SHORT } {
        issue(sums, pair);
    } else if const { P::BY_WARPGROUPS } {
        // SAFETY: just asked.
        unsafe { issue_apart(sums, pair) };
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
type StepOf<'k, P> = <<P as Pair<'k>>::T as StagedProduct<<P as Pair<'k>>::U, <P as Pair<'k>>::Sum>>::Step;
/// The bytes of an element.
type BytesOf<'k, P> = <<P as Pair<'k>>::T as ProductOf<<P as Pair<'k>>::U, <P as Pair<'k>>::Sum>>::Bytes;
/// The layout of the left factor's fragments.
type LeftLayout<'k, P> =
    LeftOperand<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::N as Dimension>::Count>;
/// The layout of the right factor's.
type RightLayout<'k, P> =
    RightOperand<<P as Pair<'k>>::Block, BytesOf<'k, P>, <<P as Pair<'k>>::M as Dimension>::Count>;

/// Loads the fragments of both factors for each instruction along the contracted axis, and gives them to `take`.
///
/// # Safety
/// Warps have a product of fragments of these factors: [`Pair::BY_FRAGMENTS`].
#[inline(always)]
unsafe fn each_step<'k, P: Pair<'k>>(pair: P, mut take: impl FnMut(FactorsOf<'k, P>)) {
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

/// Sums of type `C` and shape `S` to which steps add products of elements `T` and `U`, from
/// [`Steps::sum`](super::Steps::sum).
pub struct Accumulation<'a, T: StagedProduct<U, C>, U: Repack, C: Element, S: Shape, B: Block> {
    sums: &'a mut Accumulator<C, S, B>,
    /// The fragments of a product that is still to be added. They were loaded while the product before them was under way, and
    /// so are the first ones of a step while the last product of the step before is.
    ahead: Factors<T, U, C, S, B>,
}

impl<'a, T: StagedProduct<U, C>, U: Repack, C: Element, S: Shape, B: Block> Accumulation<'a, T, U, C, S, B> {
    /// Whether products are put off: where warps multiply for themselves, on fragments in registers of 32 bits.
    const AHEAD: bool = TILES_IN_REGISTERS
        && !WARPGROUPS
        && <T as ProductOf<U, C>>::TENSOR_CORES
        && size_of::<T::Word>() == 4
        && <S::Rows as PowerOfTwo>::COUNT >= 16
        && <S::Columns as PowerOfTwo>::COUNT >= 8
        && <B::Threads as PowerOfTwo>::COUNT >= 32;

    #[inline(always)]
    pub(super) fn new(sums: &'a mut Accumulator<C, S, B>) -> Self {
        Self { sums, ahead: Factors::zero() }
    }

    /// Adds the product that was put off.
    ///
    /// # Safety
    /// Products are put off: [`AHEAD`](Self::AHEAD).
    #[inline(always)]
    unsafe fn catch_up(&mut self) {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles, as `AHEAD` asks.
        unsafe { self.ahead.multiply::<false>(&mut self.sums.sums) }
    }

    /// Adds what was put off, if anything is.
    #[inline(always)]
    pub(super) fn finish(mut self) {
        if const { Self::AHEAD } {
            // SAFETY: just asked.
            unsafe { self.catch_up() };
        }
    }
}

impl<T: StagedProduct<U, C>, U: Repack, C: Element, M: Dimension, N: Dimension, B: Block>
    Accumulation<'_, T, U, C, (M, N), B>
{
    /// Adds the product of an (M, K) factor, a stage or a tile in registers, and a (K, N) stage, as
    /// [`Accumulator::mma`] does.
    #[inline(always)]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: LeftFactor<'k, M, K, B, Element = T>,
        Y: StagedFactor<'k, K, N, Element = U>,
    {
        let pair = PairOf::new(a, b);
        if const { !Self::AHEAD || !PairOf::<X, Y, C, M, N, K, B>::BY_FRAGMENTS } {
            issue(self.sums, pair);
            return;
        }
        let step = |factors| {
            // SAFETY: products are put off, as just asked.
            unsafe { self.catch_up() };
            self.ahead = factors;
        };
        // SAFETY: warps have a product of fragments of these factors, as just asked.
        unsafe { each_step(pair, step) };
    }

    /// As [`mma`](Self::mma), with sums of all the bits that `C` has: see [`Accumulator::mma_precisely`].
    #[inline(always)]
    pub fn mma_precisely<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: LeftFactor<'k, M, K, B, Element = T>,
        Y: StagedFactor<'k, K, N, Element = U>,
    {
        if const { !<T as StagedProduct<U, C>>::SHORT } {
            return self.mma(a, b);
        }
        // What was put off is of this same product, or nothing.
        if const { Self::AHEAD } {
            // SAFETY: just asked.
            unsafe { self.catch_up() };
            self.ahead = Factors::zero();
        }
        issue_precisely(self.sums, PairOf::new(a, b));
    }
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
