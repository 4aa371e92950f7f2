//! Accumulators of multiplications under way.

use crate::arch::matrix::WARPGROUPS;
use crate::arch::{execution, warpgroup};
use crate::context::Cx;
use crate::element::Element;
use crate::layout::{Accumulators, Block, Layout, WARPGROUP};
use crate::registers::{PowerOfTwo, Registers};
use crate::sealed::Sealed;
use crate::shape::{BroadcastsTo, Shape};
use crate::tile::Tile;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Accumulators of type `C` and shape `S`, to which the tensor cores may still be adding.
///
/// Their values cannot be read before [`finish`](Self::finish).
///
/// # On a GPU
///
/// The registers of the layout [`Accumulators`]. Where warpgroups multiply, `wgmma.mma_async` writes them asynchronously (PTX
/// ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
#[must_use = "accumulators are read by `finish`"]
pub struct Accumulator<C: Element, S: Shape, B: Block> {
    pub(crate) registers: Registers<C, <Accumulators<B> as Layout>::Registers<S>>,
    /// 0 while the accumulators are zero and their registers are undefined: the first `wgmma` replaces the registers' contents.
    pub(crate) adds: u32,
    /// Whether all multiplications belong to a committed group, which can be waited for. A step commits its group when it ends.
    pub(crate) is_committed: bool,
    /// The number of this thread's warpgroup in the block.
    pub(crate) warpgroup: u32,
    local: PhantomData<*const ()>,
}

/// The number of this thread's warpgroup in the block.
#[inline_on_device]
pub(crate) fn warpgroup_number<B: Block>() -> u32 {
    if const { WARPGROUPS && <B::Threads as PowerOfTwo>::COUNT > WARPGROUP } {
        // SAFETY: all threads of the block run this alike.
        unsafe { execution::from_lane(execution::thread() as u32 / WARPGROUP as u32, 0) }
    } else {
        0
    }
}

/// `N` undefined registers; zeros, if `wgmma` does not accumulate in their type.
#[inline_on_device]
pub(crate) fn unset<C: Element, N: PowerOfTwo>() -> Registers<C, N> {
    if size_of::<C>() != size_of::<u32>() {
        return Registers::from_fn(|_| C::ZERO);
    }
    let mut registers = MaybeUninit::<Registers<C, N>>::uninit();
    // SAFETY: `registers` is laid out as `N` values of 32 bits, as just asked. All element types of 32 bits are numbers, and
    // any bits are a valid number.
    unsafe {
        warpgroup::undef(N::COUNT, registers.as_mut_ptr().cast());
        registers.assume_init()
    }
}

impl<C: Element, S: Shape, B: Block> Accumulator<C, S, B> {
    /// Whether `wgmma` can accumulate in this type.
    pub(crate) const BY_WARPGROUPS: bool = WARPGROUPS && size_of::<C::Bits>() == 4;
    /// The registers of 32 bits.
    const REGISTERS: usize =
        <<Accumulators<B> as Layout>::Registers<S> as PowerOfTwo>::COUNT * size_of::<C::Bits>() / 4;
    /// The registers of a block of 64 rows: two columns have one. Those of columns that are not in use lie behind the others.
    const OF_A_BLOCK: usize = <S::Columns as PowerOfTwo>::COUNT / 2;
    const IS_PADDED: bool = Self::COLUMNS_IN_USE < <S::Columns as PowerOfTwo>::COUNT;
    /// The registers of a block that are in use: fewer than it has if the columns are [`Padded`](crate::shape::Padded).
    pub(crate) const IN_USE_OF_A_BLOCK: usize = Self::COLUMNS_IN_USE / 2;
    const COLUMNS_IN_USE: usize = match S::DESCRIPTION.rank {
        0 => 1,
        rank => S::LENGTHS[rank - 1],
    };

    /// Accumulators that begin at zero.
    #[inline_on_device]
    pub(crate) fn zero() -> Self {
        let mut accumulator = Self::of(Registers::from_fn(|_| C::ZERO), 1);
        accumulator.pin::<false>();
        accumulator
    }

    /// Accumulators that begin at zero and whose registers are undefined until the first multiplication.
    #[inline_on_device]
    pub(crate) fn unset() -> Self {
        if !Self::BY_WARPGROUPS {
            return Self::zero();
        }
        Self::of(unset(), 0)
    }

    #[inline_on_device]
    fn of(registers: Registers<C, <Accumulators<B> as Layout>::Registers<S>>, adds: u32) -> Self {
        Self { registers, adds, is_committed: true, warpgroup: warpgroup_number::<B>(), local: PhantomData }
    }

    /// Sets the registers to zero if no multiplication has written them.
    #[inline_on_device]
    pub(crate) fn clear_unless_set(&mut self) {
        if self.adds == 0 {
            self.registers = Registers::from_fn(|_| C::ZERO);
            self.adds = 1;
        }
    }

    /// Accumulators that begin at the elements of a tile.
    ///
    /// [`zero_accumulator`](CreateAccumulator::zero_accumulator) has an example.
    #[inline_on_device]
    pub fn from_tile<L: Layout<Block = B>>(tile: Tile<C, S, L>) -> Self {
        Self::holding(tile.spread())
    }

    /// Accumulators of shape `shape` that begin at the elements of a tile, repeated along its axes of size 1: a bias, say, without an
    /// addition.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let bias = cx.iota::<i32>(shape![8]).cast::<f32>().expand_dims::<0>();
    ///     let sums = Accumulator::from_broadcast(bias, shape![16, 8]).finish();
    ///     assert_eq!(sums.at([15, 7]), 7.0);
    /// });
    /// ```
    #[inline_on_device]
    pub fn from_broadcast<R, L>(tile: Tile<C, R, L>, _shape: S) -> Self
    where
        R: BroadcastsTo<S>,
        L: Layout<Block = B>,
    {
        Self::holding(tile.spread())
    }

    /// Accumulators that begin at these elements.
    #[inline_on_device]
    fn holding(tile: Tile<C, S, Accumulators<B>>) -> Self {
        let mut accumulator = Self::of(*tile.registers(), 1);
        accumulator.pin::<false>();
        accumulator
    }

    /// Pins the registers to this place in the program; with `WAIT`, behind all multiplications.
    #[inline_on_device]
    pub(crate) fn pin<const WAIT: bool>(&mut self) {
        if Self::BY_WARPGROUPS {
            // SAFETY: the accumulators have 32 bits, as `BY_WARPGROUPS` asks. These are therefore their registers: all, a power of two of
            // them, or those of each block that are in use, half as many as there are padded columns. All threads of the block run this alike.
            unsafe {
                if const { !Self::IS_PADDED } {
                    warpgroup::pin::<WAIT>(Self::REGISTERS, core::ptr::from_mut(&mut self.registers).cast())
                } else {
                    let mut first = 0;
                    while first < Self::REGISTERS {
                        let block =
                            core::ptr::from_mut(&mut self.registers).cast::<u32>().wrapping_add(first);
                        warpgroup::pin::<WAIT>(Self::IN_USE_OF_A_BLOCK, block);
                        first += Self::OF_A_BLOCK;
                    }
                }
            }
        }
    }

    /// Waits for the multiplications under way, and returns the accumulators as an ordinary tile.
    ///
    /// [`zero_accumulator`](CreateAccumulator::zero_accumulator) has an example.
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Accumulators`]. Where warpgroups multiply, `wgmma.wait_group` waits (PTX ISA, "Asynchronous
    /// Multiply-and-Accumulate Instruction: wgmma.wait_group").
    #[inline_on_device]
    pub fn finish(mut self) -> Tile<C, S, Accumulators<B>> {
        self.wait();
        self.into_tile()
    }

    /// Waits for all multiplications under way, including those that no step has committed yet.
    #[inline_on_device]
    fn wait(&mut self) {
        if Self::BY_WARPGROUPS && !self.is_committed {
            // SAFETY: all threads of the block run this alike.
            unsafe { warpgroup::commit() };
        }
        self.pin::<true>();
    }

    /// The accumulators as a tile. No multiplication is writing them.
    #[inline_on_device]
    pub(crate) fn into_tile(mut self) -> Tile<C, S, Accumulators<B>> {
        self.clear_unless_set();
        let registers = self.registers;
        core::mem::forget(self);
        Tile::from_registers(registers)
    }
}

/// Accumulators whose element type a call names: `cx.zero_accumulator::<f32>(shape![64, 128])`. [`Cx`] makes them.
///
/// The shape is a parameter of this trait, and not of its methods. A call therefore names the element type alone.
pub trait CreateAccumulator<S: Shape>: Sealed + Sized {
    /// The block that holds the accumulators.
    type Block: Block;

    /// Accumulators that begin at zero.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums = cx.zero_accumulator::<f32>(shape![16, 8]).finish();
    ///     assert_eq!(sums.at([15, 7]), 0.0);
    ///     let ones = Accumulator::from_tile(cx.full(shape![16, 8], 1.0f32)).finish();
    ///     assert_eq!(ones.at([15, 7]), 1.0);
    /// });
    /// ```
    #[inline_on_device]
    fn zero_accumulator<C: Element>(self, _shape: S) -> Accumulator<C, S, Self::Block> {
        Accumulator::zero()
    }

    /// Accumulators that begin at zero, and whose registers are undefined until the first multiplication.
    ///
    /// It is for a first multiplication that stands outside a loop. A step of a loop would have to ask whether it is the first.
    ///
    /// # On a GPU
    ///
    /// Where warpgroups multiply, no instruction sets the registers to zero: the first `wgmma.mma_async` replaces their contents. Elsewhere
    /// it is [`zero_accumulator`](Self::zero_accumulator).
    #[inline_on_device]
    fn unset_accumulator<C: Element>(self, _shape: S) -> Accumulator<C, S, Self::Block> {
        Accumulator::unset()
    }
}

impl<B: Block, S: Shape> CreateAccumulator<S> for Cx<B> {
    type Block = B;
}

/// Multiplications write the registers until they are done. Until then, the registers must have no other use.
impl<C: Element, S: Shape, B: Block> Drop for Accumulator<C, S, B> {
    #[inline_on_device]
    fn drop(&mut self) {
        self.wait();
    }
}
