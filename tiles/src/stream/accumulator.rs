//! Accumulators of products under way.

use super::fills::Fills;
use super::pair::PairOf;
use super::product::{LeftFactor, RightFactor, StagedProduct, issue_precisely};
use super::progress::Reads;
use super::receiver::{Held, Receiver};
use super::stage::StagedFactor;
use super::staged::Message;
use crate::arch::matrix::WARPGROUPS;
use crate::arch::{execution, warpgroup};
use crate::context::Cx;
use crate::element::{Element, Repack};
use crate::layout::{Accumulators, Block, Layout};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Dimension, Shape};
use crate::tile::Tile;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Threads of a warpgroup.
const WARPGROUP: u32 = 128;

/// Sums of type `C` and shape `S`, to which the tensor cores may still be adding products.
///
/// What they are cannot be read before [`finish`](Self::finish).
#[must_use = "accumulators are read by `finish`"]
pub struct Accumulator<C: Element, S: Shape, B: Block> {
    pub(super) sums: Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    /// 0 while the sums are zero and the registers hold anything: the first product of warpgroups takes their place.
    pub(super) adds: u32,
    /// Whether all products belong to groups, which can be waited for. Those of a step's stages do when it ends.
    pub(super) is_committed: bool,
    /// The number of this thread's warpgroup in the block.
    pub(super) warpgroup: u32,
    local: PhantomData<*const ()>,
}

/// The number of this thread's warpgroup in the block.
#[inline(always)]
fn warpgroup_number() -> u32 {
    if WARPGROUPS {
        // SAFETY: all threads of the block run this alike.
        unsafe { execution::from_lane(execution::thread() as u32 / WARPGROUP, 0) }
    } else {
        0
    }
}

/// `N` sums of any value; zeros, if their type is none that warpgroups sum up.
#[inline(always)]
pub(super) fn unset<C: Element, N: PowerOfTwo>() -> Registers<C, N> {
    if size_of::<C>() != size_of::<u32>() {
        return Registers::from_fn(|_| C::ZERO);
    }
    let mut sums = MaybeUninit::<Registers<C, N>>::uninit();
    // SAFETY: `sums` is laid out as `N` values of 32 bits, as just asked. All element types of 32 bits are numbers, of which any
    // bits are valid.
    unsafe {
        warpgroup::arise(N::COUNT, sums.as_mut_ptr().cast());
        sums.assume_init()
    }
}

impl<C: Element, S: Shape, B: Block> Accumulator<C, S, B> {
    /// Whether warpgroups have products that these sums could be of.
    const BY_WARPGROUPS: bool = WARPGROUPS && size_of::<C::Bits>() == 4;
    const REGISTERS: usize =
        <<Accumulators<B> as Layout>::Registers<S> as PowerOfTwo>::COUNT * size_of::<C::Bits>() / 4;

    /// Sums that begin at zero.
    #[inline(always)]
    pub fn zero(_cx: Cx<B>) -> Self {
        let mut accumulator = Self::of(Registers::from_fn(|_| C::ZERO), 1);
        accumulator.settle::<false>();
        accumulator
    }

    /// Sums that begin at zero, of which the first product takes the place: where warpgroups multiply, no instruction sets them to
    /// zero. For sums whose first product is not a step of a loop, which would have to ask whether it is the first.
    #[inline(always)]
    pub fn unset(cx: Cx<B>) -> Self {
        if !Self::BY_WARPGROUPS {
            return Self::zero(cx);
        }
        Self::of(unset(), 0)
    }

    #[inline(always)]
    fn of(sums: Registers<C, <Accumulators<B> as Layout>::Registers<S>>, adds: u32) -> Self {
        Self { sums, adds, is_committed: true, warpgroup: warpgroup_number(), local: PhantomData }
    }

    /// Sets the sums to the zero that they are, where no product has taken its place.
    #[inline(always)]
    pub(super) fn clear_unless_set(&mut self) {
        if self.adds == 0 {
            self.sums = Registers::from_fn(|_| C::ZERO);
            self.adds = 1;
        }
    }

    /// Sums that begin at the elements of a tile.
    #[inline(always)]
    pub fn from_tile<L: Layout<Block = B>>(_cx: Cx<B>, tile: Tile<C, S, L>) -> Self {
        let sums = *tile.spread::<S, Accumulators<B>>().registers();
        let mut accumulator = Self::of(sums, 1);
        accumulator.settle::<false>();
        accumulator
    }

    /// Ties the registers to this place in the program; with `WAIT`, after all products.
    #[inline(always)]
    pub(super) fn settle<const WAIT: bool>(&mut self) {
        if Self::BY_WARPGROUPS {
            // SAFETY: the sums have 32 bits, as `BY_WARPGROUPS` asks, so that these are all of their registers, a power of two of
            // them; all threads of the block run this alike.
            unsafe { warpgroup::settle::<WAIT>(Self::REGISTERS, core::ptr::from_mut(&mut self.sums).cast()) }
        }
    }

    /// Waits for the products under way: the sums as an ordinary tile.
    #[inline(always)]
    pub fn finish(mut self) -> Tile<C, S, Accumulators<B>> {
        self.wait();
        self.into_tile()
    }

    /// Waits for all products that were put under way, those that no step has made a group of included.
    #[inline(always)]
    fn wait(&mut self) {
        if Self::BY_WARPGROUPS && !self.is_committed {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::commit() };
        }
        self.settle::<true>();
    }

    /// The sums, which no product is writing.
    #[inline(always)]
    pub(super) fn into_tile(mut self) -> Tile<C, S, Accumulators<B>> {
        self.clear_unless_set();
        let sums = self.sums;
        core::mem::forget(self);
        Tile::from_registers(sums)
    }
}

/// Products write the registers until they are done, which must not be others' before.
impl<C: Element, S: Shape, B: Block> Drop for Accumulator<C, S, B> {
    #[inline(always)]
    fn drop(&mut self) {
        self.wait();
    }
}

impl<C: Element, M: Dimension, N: Dimension, B: Block> Accumulator<C, (M, N), B> {
    /// Adds the product of an (M, K) factor, a stage or a tile in registers, and a (K, N) stage.
    ///
    /// On a GPU with warpgroups the product is under way when this returns.
    #[inline(always)]
    pub fn mma<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: LeftFactor<'k, M, K, B>,
        Y: StagedFactor<'k, K, N> + RightFactor<'k, M, N, K, B, C, X>,
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
    /// #[kernel(threads = 128, copy = 32)]
    /// pub fn product(
    ///     block: Split,
    ///     a: TileSource<f8e4m3, Shape2<64, 128>>,
    ///     b: TileSource<f8e4m3, Shape2<64, 128>>,
    ///     c: TileSink<f32, Shape2<64, 64>>,
    ///     #[shared] ring: Ring<(Staged<f8e4m3, Shape2<64, 128>>, Staged<f8e4m3, Shape2<64, 128>>), 4>,
    ///     #[shared] stash: Stash<1>,
    /// ) {
    ///     let (order, steps) = (Swizzled::<8>, a.tile_counts().1);
    ///     let feed = block.indices(order, c.tile_counts()).flat_map(move |[_, i, j]| a.row(i).zip(b.row(j)));
    ///     block.pipeline(ring, feed, move |cx, mut receiver| {
    ///         let mut stash = stash;
    ///         for tile in c.deal(cx, order) {
    ///             let mut sums = Accumulator::zero(cx);
    ///             receiver.steps(steps).each(|(a, b)| sums.mma_precisely(a, b.transposed()));
    ///             tile.store(&mut stash, sums.finish());
    ///         }
    ///     });
    /// }
    /// ```
    #[inline(always)]
    pub fn mma_precisely<'k, K, X, Y>(&mut self, a: X, b: Y)
    where
        K: Dimension,
        X: LeftFactor<'k, M, K, B, Element: StagedProduct<Y::Element, C>>,
        Y: StagedFactor<'k, K, N, Element: Repack>,
    {
        issue_precisely(self, PairOf::new(a, b));
    }
}

/// Accumulators whose product is under way, and the message that it reads, from [`Receiver::start`].
///
/// Dropped instead of finished, it waits for the product, and its message stays held.
#[must_use = "a product under way is finished by `finish`"]
pub struct InFlight<'r, C: Element, S: Shape, B: Block, P> {
    accumulator: Accumulator<C, S, B>,
    held: Held<'r, P>,
    /// The pipeline's count of started products with this one.
    number: u32,
}

impl<'r, P, F, B, const STAGES: usize> Receiver<'r, P, F, B, STAGES>
where
    P: Message,
    F: Iterator<Item: Fills<P>>,
    B: Block,
{
    /// Puts products with a held message under way, `issue`, without waiting for them.
    #[inline(always)]
    pub fn start<C: Element, S: Shape>(
        &mut self,
        mut accumulator: Accumulator<C, S, B>,
        held: Held<'r, P>,
        issue: impl for<'k> FnOnce(&mut Accumulator<C, S, B>, P::Stages<'k>),
    ) -> InFlight<'r, C, S, B, P> {
        let reads = Reads::of_step();
        // SAFETY: the message lies there until it is released, which is after the products: `InFlight` keeps it.
        let stages = unsafe { held.stages_for(&reads) };
        self.progress.lend(|| issue(&mut accumulator, stages));
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::commit() };
        }
        accumulator.is_committed = true;
        let number = self.progress.count_started();
        InFlight { accumulator, held, number }
    }
}

impl<'r, C: Element, S: Shape, B: Block, P: Message> InFlight<'r, C, S, B, P> {
    /// Waits for the product, not for those that were started after it, and releases its message.
    ///
    /// # Panics
    /// If an older message is still held, on targets that have no copy engine (on the device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn finish<F: Iterator<Item: Fills<P>>, const STAGES: usize>(
        mut self,
        receiver: &mut Receiver<'r, P, F, B, STAGES>,
    ) -> Tile<C, S, Accumulators<B>> {
        if Accumulator::<C, S, B>::BY_WARPGROUPS {
            // Groups retire in order, and at least as many were committed after this one as were started. Waiting for all
            // but as many is waiting for this one.
            warpgroup::here();
            match receiver.progress.started_since(self.number) {
                0 => self.accumulator.settle::<true>(),
                _ => {
                    // SAFETY: all threads of the block run this alike.
                    unsafe { warpgroup::wait::<1>() };
                    self.accumulator.settle::<false>();
                }
            }
        }
        receiver.give_back(self.held.slot());
        self.accumulator.into_tile()
    }
}
