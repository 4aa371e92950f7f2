//! Accumulators of products under way.

use crate::arch::matrix::WARPGROUPS;
use crate::arch::{execution, warpgroup};
use crate::context::Cx;
use crate::element::Element;
use crate::layout::{Accumulators, Block, Layout};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Shape;
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
    pub(crate) sums: Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    /// 0 while the sums are zero and the registers hold anything: the first product of warpgroups takes their place.
    pub(crate) adds: u32,
    /// Whether all products belong to groups, which can be waited for. Those of a step's stages do when it ends.
    pub(crate) is_committed: bool,
    /// The number of this thread's warpgroup in the block.
    pub(crate) warpgroup: u32,
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
pub(crate) fn unset<C: Element, N: PowerOfTwo>() -> Registers<C, N> {
    if size_of::<C>() != size_of::<u32>() {
        return Registers::from_fn(|_| C::ZERO);
    }
    let mut sums = MaybeUninit::<Registers<C, N>>::uninit();
    // SAFETY: `sums` is laid out as `N` values of 32 bits, as just asked. All element types of 32 bits are numbers, of which any
    // bits are valid.
    unsafe {
        warpgroup::undef(N::COUNT, sums.as_mut_ptr().cast());
        sums.assume_init()
    }
}

impl<C: Element, S: Shape, B: Block> Accumulator<C, S, B> {
    /// Whether warpgroups have products that these sums could be of.
    pub(crate) const BY_WARPGROUPS: bool = WARPGROUPS && size_of::<C::Bits>() == 4;
    const REGISTERS: usize =
        <<Accumulators<B> as Layout>::Registers<S> as PowerOfTwo>::COUNT * size_of::<C::Bits>() / 4;

    /// Sums that begin at zero.
    #[inline(always)]
    pub fn zero(_cx: Cx<B>) -> Self {
        let mut accumulator = Self::of(Registers::from_fn(|_| C::ZERO), 1);
        accumulator.pin::<false>();
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
    pub(crate) fn clear_unless_set(&mut self) {
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
        accumulator.pin::<false>();
        accumulator
    }

    /// Ties the registers to this place in the program; with `WAIT`, after all products.
    #[inline(always)]
    pub(crate) fn pin<const WAIT: bool>(&mut self) {
        if Self::BY_WARPGROUPS {
            // SAFETY: the sums have 32 bits, as `BY_WARPGROUPS` asks, so that these are all of their registers, a power of two of
            // them; all threads of the block run this alike.
            unsafe { warpgroup::pin::<WAIT>(Self::REGISTERS, core::ptr::from_mut(&mut self.sums).cast()) }
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
        self.pin::<true>();
    }

    /// The sums, which no product is writing.
    #[inline(always)]
    pub(crate) fn into_tile(mut self) -> Tile<C, S, Accumulators<B>> {
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
