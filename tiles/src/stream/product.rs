//! How products of stages are put under way: by whole warpgroups where the target has such products for the elements, else by
//! warps on fragments in registers.

use super::accumulator::Accumulator;
use super::across::issue_across;
use super::apart::issue_apart;
use super::left::ACROSS_BYTES;
use super::progress::{Readers, Reads};
use super::stage::{Stage, StagedFactor, Transposed, reads_are_done};
use super::staged::Geometry;
use crate::arch::TILES_IN_REGISTERS;
use crate::arch::matrix::{FP8_PRODUCTS, WARPGROUPS};
use crate::arch::threads::Address;
use crate::arch::warpgroup;
use crate::element::{Element, Repack, bf16, f8e4m3, f8e5m2, f16, tf32};
use crate::layout::{Accumulators, Block, Blocked, Layout, LeftOperand, RightOperand};
use crate::ops::matrix::{Factors, MultiplyAccumulate, ProductOf, mma};
use crate::registers::PowerOfTwo;
use crate::shape::{D, Dimension, Shape};
use crate::tile::Tile;

/// Bytes along the contracted axis that one instruction takes.
pub(super) const STEP_BYTES: usize = 32;
/// Rows that one instruction takes.
pub(super) const STEP_ROWS: usize = 64;
/// The most columns that one instruction takes.
const STEP_COLUMNS: usize = 256;
/// Bytes of a panel's row from which on a factor can be read across its rows.
const WHOLE_PANEL: usize = 128;

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
    /// As for [`crate::arch::warpgroup::f16_f32::shared`].
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
    /// As for [`crate::arch::warpgroup::f16_f32::registers`].
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
pub trait LeftFactor<'k, M: Dimension, K: Dimension, B: Block>: Copy {
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
    /// The registers of a tile in the accumulators' layout, as words.
    #[doc(hidden)]
    fn words(self, first: usize) -> [u32; 4];
    /// The tile in registers, in layout `L`.
    #[doc(hidden)]
    fn tile<L: Layout<Block = B>>(self) -> Tile<Self::Element, (M, K), L>;
    /// Its columns from `k` on, as the fragments that layout `L` is.
    #[doc(hidden)]
    fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<Self::Element, (M, P), L>;
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
            fn words(self, _first: usize) -> [u32; 4] {
                [0; 4]
            }
            #[inline(always)]
            fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
                StagedFactor::<'k, M, K>::tile(self)
            }
            #[inline(always)]
            fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
                StagedFactor::<'k, M, K>::fragments::<1, M, P, L>(self, true, [0, k])
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
    fn words(self, first: usize) -> [u32; 4] {
        // The accumulators' fragment of a tile of 16-bit elements is the instruction's fragment of a left factor: its registers
        // hold pairs of columns, of both eights of rows, of the next eight columns.
        let own = self.registers();
        [0, 2, 4, 6].map(|k| pair(own.get(first + k), own.get(first + k + 1)))
    }
    #[inline(always)]
    fn tile<L: Layout<Block = B>>(self) -> Tile<T, (M, K), L> {
        self.spread()
    }
    #[inline(always)]
    fn columns<P: Dimension, L: Layout<Block = B>>(self, k: usize) -> Tile<T, (M, P), L> {
        let number = k / const { <P::Count as PowerOfTwo>::COUNT };
        self.extract::<(M, P), 2>(Default::default(), [0, number as u32]).spread()
    }
}

mod sealed {
    pub trait Sealed {}
    impl<T: Copy> Sealed for T {}
}

/// The right factor of a product with the left one `X` that sums of type `C` can take: any stage whose elements have such a product
/// with those of `X`, see [`StagedProduct`].
// The right factor is `Self`: the compiler then waits for both factors before it says what is wrong with one of them.
pub trait RightFactor<'k, M: Dimension, N: Dimension, K: Dimension, B: Block, C: Element, X>:
    Copy + sealed::Sealed
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
        if const { by_warpgroups::<C, M, N, K, B, X, Y>() && is_across::<M, K, B, X>() } {
            issue_across(sums, a, self);
        } else if const { by_warpgroups::<C, M, N, K, B, X, Y>() } {
            issue_by_warpgroups(sums, a, self);
        } else {
            issue_by_warps::<false, C, M, N, K, B, X, Y>(sums, a, self);
        }
    }
}

/// Two elements of 16 bits as a word, the first one lowest.
#[inline(always)]
pub(super) fn pair<T: Element>(low: T, high: T) -> u32 {
    let bits = |x: T| {
        let bits = x.to_bits();
        // SAFETY: the element has 16 bits: callers ask for no others, and any bits are a `u16`.
        u32::from(unsafe { core::ptr::from_ref(&bits).cast::<u16>().read() })
    };
    bits(low) | bits(high) << 16
}

/// What an operand's descriptor says beside its address, and how far it is to the next step (PTX ISA, "Matrix-Descriptor
/// Format" and "Strides").
#[derive(Clone, Copy)]
pub(super) struct Descriptor {
    /// Everything but the address.
    fields: u64,
    /// Bytes from one block of 64 rows, or of 256 columns, to the next.
    block: usize,
    geometry: Geometry,
    across: bool,
}

impl Descriptor {
    /// The descriptor of a factor whose contracted axis runs along the rows of its stage, or across them; `side` elements of its
    /// other axis are a block.
    pub(super) const fn new(geometry: Geometry, across: bool, side: usize) -> Self {
        let mode = match geometry.panel_bytes {
            128 => 1,
            64 => 2,
            _ => 3,
        };
        let (leading, stride, block) = if across {
            // Panels of 64 elements, each a row for each step of the contracted axis.
            (geometry.panel_stride(), 8 * WHOLE_PANEL, side / 64 * geometry.panel_stride())
        } else {
            (16, 8 * geometry.panel_bytes, side * geometry.panel_bytes)
        };
        let fields = ((leading / 16) as u64) << 16 | ((stride / 16) as u64) << 32 | mode << 62;
        Self { fields, block, geometry, across }
    }

    /// The descriptor at `address`, of a block.
    #[inline(always)]
    pub(super) fn at(self, address: u32, block: usize) -> u64 {
        let address = address + (block * self.block) as u32;
        u64::from((address & 0x3ffff) >> 4) | self.fields
    }

    /// What a step adds to the descriptor.
    #[inline(always)]
    pub(super) fn step(self, step: usize) -> u64 {
        let bytes = if self.across {
            step * 16 * WHOLE_PANEL
        } else {
            let in_panel = self.geometry.panel_bytes / STEP_BYTES;
            step / in_panel * self.geometry.panel_stride() + step % in_panel * STEP_BYTES
        };
        (bytes / 16) as u64
    }
}

/// The address as a descriptor holds it.
#[inline(always)]
pub(super) fn address_of(address: Address) -> u32 {
    crate::arch::threads::word(address)
}

/// Adds the product of `a` and `b` to `sums`, what tensor cores sum up to fewer bits after it was summed up by itself.
#[inline(always)]
pub(super) fn issue_precisely<'k, C, M, N, K, B, X, Y>(sums: &mut Accumulator<C, (M, N), B>, a: X, b: Y)
where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    if const { !<X::Element as StagedProduct<Y::Element, C>>::SHORT } {
        b.issue(sums, a);
    } else if const { by_warpgroups::<C, M, N, K, B, X, Y>() } {
        issue_apart(sums, a, b);
    } else {
        issue_by_warps::<true, C, M, N, K, B, X, Y>(sums, a, b);
    }
}

/// The product by each warp for itself, on fragments in registers; on the CPU, and for tiles too small for that, by the product
/// of whole tiles. With `APART`, each instruction's product is summed up by itself.
#[inline(always)]
fn issue_by_warps<'k, const APART: bool, C, M, N, K, B, X, Y>(
    sums: &mut Accumulator<C, (M, N), B>,
    a: X,
    b: Y,
) where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    sums.clear_unless_set();
    if !TILES_IN_REGISTERS || const { !by_fragments::<X::Element, Y::Element, C, M, N, K, B>() } {
        let product = mma(
            a.tile::<Blocked<B>>(),
            b.tile::<Blocked<B>>(),
            Tile::<C, (M, N), Accumulators<B>>::from_registers(sums.sums),
        );
        sums.sums = *product.registers();
        return;
    }
    if const { APART || size_of::<<X::Element as ProductOf<Y::Element, C>>::Word>() != 4 } {
        // SAFETY: all threads of the block run this alike. Tensor cores multiply these tiles, by the condition above.
        each_step::<C, M, N, K, B, X, Y>(a, b, |factors| unsafe {
            factors.multiply::<APART>(&mut sums.sums)
        });
        return;
    }
    let mut ahead = None;
    each_step::<C, M, N, K, B, X, Y>(a, b, |factors| {
        // Tensor cores are busy with the fragments before while these are on their way.
        multiply(&ahead, sums);
        ahead = Some(factors);
    });
    multiply(&ahead, sums);
}

/// Loads the fragments of both factors for each instruction along the contracted axis, and gives them to `take`.
#[inline(always)]
fn each_step<'k, C, M, N, K, B, X, Y>(
    a: X,
    b: Y,
    mut take: impl FnMut(Factors<X::Element, Y::Element, C, (M, N), B>),
) where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let step = const { <StepOf<X::Element, Y::Element, C> as Dimension>::Count::COUNT };
    K::Count::unroll(0, step, &mut |k| {
        let left = a.columns::<StepOf<X::Element, Y::Element, C>, LeftOperand<B, <X::Element as ProductOf<Y::Element, C>>::Bytes, N::Count>>(k);
        let right = b.fragments::<0, StepOf<X::Element, Y::Element, C>, N, RightOperand<B, <X::Element as ProductOf<Y::Element, C>>::Bytes, M::Count>>(X::GEOMETRY.is_some(), [k, 0]);
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
    #[inline(always)]
    fn catch_up(&mut self) {
        // SAFETY: all threads of the block run this alike. Callers are where `AHEAD` is, and tensor cores multiply these tiles.
        unsafe { self.ahead.multiply::<false>(&mut self.sums.sums) }
    }

    /// Adds what was put off, if anything is.
    #[inline(always)]
    pub(super) fn finish(mut self) {
        if const { Self::AHEAD } {
            self.catch_up();
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
        if const { !Self::AHEAD || !by_fragments::<T, U, C, M, N, K, B>() } {
            b.issue(self.sums, a);
            return;
        }
        each_step::<C, M, N, K, B, X, Y>(a, b, |factors| {
            self.catch_up();
            self.ahead = factors;
        });
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
            self.catch_up();
            self.ahead = Factors::zero();
        }
        issue_precisely(self.sums, a, b);
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

/// What one instruction of a warp takes of the contracted axis.
type StepOf<T, U, C> = <T as StagedProduct<U, C>>::Step;

/// Whether warps have a product of fragments of these factors.
const fn by_fragments<
    T: StagedProduct<U, C>,
    U: Repack,
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
>() -> bool {
    <T as ProductOf<U, C>>::TENSOR_CORES
        && <M::Count as PowerOfTwo>::COUNT >= 16
        && <N::Count as PowerOfTwo>::COUNT >= 8
        && <K::Count as PowerOfTwo>::COUNT >= <T::Step as Dimension>::Count::COUNT
        && <B::Threads as PowerOfTwo>::COUNT >= 32
}

/// Whether warpgroups have a product of these factors.
const fn by_warpgroups<'k, C, M, N, K, B, X, Y>() -> bool
where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let size = size_of::<<X::Element as Element>::Bits>();
    let threads = <B::Threads as PowerOfTwo>::COUNT;
    let a_across = X::TRANSPOSED;
    // The right factor's contracted axis runs across the rows of its stage unless it is transposed.
    let b_across = !Y::TRANSPOSED;
    let a_serves = match X::GEOMETRY {
        Some(geometry) => {
            !a_across || (size == 2 && geometry.panel_bytes == WHOLE_PANEL) || is_across::<M, K, B, X>()
        }
        None => size == 2,
    };
    let b_serves = !b_across || (size == 2 && Y::GEOMETRY.panel_bytes == WHOLE_PANEL);
    WARPGROUPS
        && <X::Element as StagedProduct<Y::Element, C>>::WARPGROUPS
        && a_serves
        && b_serves
        && threads >= 128
        && <M::Count as PowerOfTwo>::COUNT * 2 >= threads
        && <N::Count as PowerOfTwo>::COUNT >= 8
        && <K::Count as PowerOfTwo>::COUNT * size >= STEP_BYTES
}

/// Whether the left factor goes through registers, as warpgroups do not transpose its elements.
const fn is_across<'k, M: Dimension, K: Dimension, B: Block, X: LeftFactor<'k, M, K, B>>() -> bool {
    X::TRANSPOSED && size_of::<<X::Element as Element>::Bits>() == ACROSS_BYTES
}

#[inline(always)]
fn issue_by_warpgroups<'k, C, M, N, K, B, X, Y>(sums: &mut Accumulator<C, (M, N), B>, a: X, b: Y)
where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let columns = const { <N::Count as PowerOfTwo>::COUNT };
    let at_once = const { columns_at_once::<N>() };
    sums.settle::<false>();
    // SAFETY: all threads of the block run this alike.
    unsafe { warpgroup::fence() };
    let warpgroup = sums.warpgroup;
    let first = core::ptr::from_mut(&mut sums.sums).cast::<u32>();
    let mut row_block = 0;
    while row_block < const { row_blocks::<M, B>() } {
        let mut column_block = 0;
        while column_block < columns / at_once {
            let own = first.wrapping_add(row_block * columns / 2 + column_block * (at_once / 2));
            // SAFETY: all threads run this alike; `sums` is not read before it is settled. A block of 64 rows has `columns / 2`
            // registers a thread.
            unsafe { issue_block(own, sums.adds, warpgroup, [row_block, column_block], at_once, (a, b)) }
            column_block += 1;
        }
        row_block += 1;
    }
    sums.adds = 1;
    mark(a.reads(), b.reads(), Readers::Products);
    let is_held = |reads: &Reads| reads.is_held();
    sums.is_committed = a.reads().is_none_or(is_held) && is_held(b.reads());
    if sums.is_committed {
        // No step makes a group of it.
        // SAFETY: all threads of the block run this alike.
        unsafe { warpgroup::commit() };
    }
}

/// Notes who reads the stages of two factors from now on.
#[inline(always)]
pub(super) fn mark(a: Option<&Reads>, b: &Reads, readers: Readers) {
    if let Some(a) = a {
        a.set(readers);
    }
    b.set(readers);
}

/// Columns of a product that one instruction has.
pub(super) const fn columns_at_once<N: Dimension>() -> usize {
    let columns = <N::Count as PowerOfTwo>::COUNT;
    if columns < STEP_COLUMNS { columns } else { STEP_COLUMNS }
}

/// Blocks of 64 rows that a warpgroup has.
pub(super) const fn row_blocks<M: Dimension, B: Block>() -> usize {
    <M::Count as PowerOfTwo>::COUNT * 2 / <B::Threads as PowerOfTwo>::COUNT
}

/// Puts a part of a product under way, of a block of 64 rows of the warpgroup and a block of `columns` columns, with these numbers:
/// to be added, or with `adds` 0 in place of what the registers hold.
///
/// # Safety
/// All threads of the block execute this same call, behind a [`warpgroup::fence`]. `own` is valid for `columns / 2` registers,
/// which nobody touches until the product is done; the stages are lent for longer.
#[inline(always)]
pub(super) unsafe fn issue_block<'k, C, M, N, K, B, X, Y>(
    own: *mut u32,
    adds: u32,
    warpgroup: u32,
    [row_block, column_block]: [usize; 2],
    columns: usize,
    (a, b): (X, Y),
) where
    C: Element,
    M: Dimension,
    N: Dimension,
    K: Dimension,
    B: Block,
    X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
    Y: StagedFactor<'k, K, N, Element: Repack>,
{
    let length = const { <K::Count as PowerOfTwo>::COUNT };
    let steps = length * const { size_of::<<X::Element as Element>::Bits>() } / STEP_BYTES;
    let groups = const { <B::Threads as PowerOfTwo>::COUNT / 128 };
    let right = Descriptor::new(Y::GEOMETRY, !Y::TRANSPOSED, columns);
    let right_at = right.at(address_of(b.address()), column_block);
    let mut step = 0;
    while step < steps {
        let add = if step > 0 { 1 } else { adds };
        let right_at = right_at + right.step(step);
        // SAFETY: the same contract.
        unsafe {
            if let Some(geometry) = X::GEOMETRY {
                let left = Descriptor::new(geometry, X::TRANSPOSED, STEP_ROWS);
                let address = address_of(a.address().unwrap_unchecked());
                let left_at = left.at(address, warpgroup as usize + row_block * groups) + left.step(step);
                match (X::TRANSPOSED, !Y::TRANSPOSED) {
                    (false, false) => X::Element::shared::<0, 0>(columns, own, add, left_at, right_at),
                    (false, true) => X::Element::shared::<0, 1>(columns, own, add, left_at, right_at),
                    (true, false) => X::Element::shared::<1, 0>(columns, own, add, left_at, right_at),
                    (true, true) => X::Element::shared::<1, 1>(columns, own, add, left_at, right_at),
                }
            } else {
                let words = a.words(row_block * length / 2 + step * 8);
                match !Y::TRANSPOSED {
                    false => X::Element::registers::<0>(columns, own, add, words, right_at),
                    true => X::Element::registers::<1>(columns, own, add, words, right_at),
                }
            }
        }
        step += 1;
    }
}
