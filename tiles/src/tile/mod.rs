//! The tile: a small array of static shape, spread over the registers of a block's threads.

mod convert;
mod create;
mod exchange;

pub(crate) use convert::Spread;

pub use create::NestedArray;

use crate::arch;
use crate::debug::protocol::ELEMENT;
use crate::element::{Cast, CastWith, Element, SameSize};
use crate::layout::{Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::sealed::sealed;
use crate::shape::Shape;
use core::marker::PhantomData;

/// Elements of a thread that [`Tile::map_by_turns`] computes at a time: as many as hide how long each one takes.
const TURN: usize = 16;

/// A value of static shape `S` with elements `T`, spread over the threads of a block by layout `L`.
///
/// Tiles are values: operations take them and give new ones, and copying is free as long as the registers
/// last. They have no address and no mutable access; memory is reached through views.
///
/// On the device each thread holds [`Tile::REGISTERS`] elements. On the CPU a block is one thread and the
/// tile an array on its stack.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let rows = cx.iota::<i32, _>(shape![2, 4]);
///     let doubled = rows * 2 + 1;
///     assert_eq!(doubled.at([1, 3]), 15);
///     assert_eq!(doubled.sum::<1>().at([0, 0]), 1 + 3 + 5 + 7);
/// });
/// ```
#[must_use = "a tile operation makes a new tile"]
pub struct Tile<T: Element, S: Shape, L: Layout> {
    registers: Registers<T, L::Registers<S>>,
    // Not `Send`: closures that see single elements must not get hold of whole tiles.
    shape: PhantomData<(S, L, *const ())>,
}

impl<T: Element, S: Shape, L: Layout> Clone for Tile<T, S, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: Shape, L: Layout> Copy for Tile<T, S, L> {}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The number of elements of the tile.
    pub const LEN: usize = S::LEN;

    /// The number of elements that each thread holds; more than about 128 four-byte elements spill.
    pub const REGISTERS: usize = <L::Registers<S> as PowerOfTwo>::COUNT;

    /// The tile whose register `i` is `make(i)`.
    #[inline(always)]
    pub(crate) fn from_registers_fn(make: impl FnMut(usize) -> T) -> Self {
        Self::from_registers(Registers::from_fn(make))
    }

    #[inline(always)]
    pub(crate) fn from_registers(registers: Registers<T, L::Registers<S>>) -> Self {
        const { Map::<L, S>::COUNTS_AGREE };
        Self { registers, shape: PhantomData }
    }

    /// The fragment of this thread.
    #[inline(always)]
    pub(crate) fn registers(&self) -> &Registers<T, L::Registers<S>> {
        &self.registers
    }

    /// Applies `function` to each element.
    ///
    /// `function` runs on every thread for each of its elements and cannot share state between them: what it captures,
    /// it captures by value, `move |x| x * scale`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![4]).map(|x| if x > 1 { x } else { -x });
    ///     assert_eq!((t.at([1]), t.at([2])), (-1, 2));
    /// });
    /// ```
    #[inline(always)]
    pub fn map<U: Element>(self, function: impl Fn(T) -> U + Send + Sync + 'static) -> Tile<U, S, L> {
        Tile::from_registers_fn(|i| function(self.registers.get(i)))
    }

    /// As [`map`](Self::map), by turns: a thread computes 16 of its elements at a time.
    ///
    /// The assembler computes as many elements side by side as there seem to be registers for. Beside a tile that takes most of
    /// them, such as the sums of a large product, what `function` computes on the way does not fit, and goes through local memory.
    /// By turns it does. Elements that do not have 32 bits are computed as `map` does.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums = cx.full(shape![32, 64], 2.0_f32);
    ///     let stored = sums.map_by_turns(|x| f16::from_f32(x * x + 1.0));
    ///     assert_eq!(stored.at([31, 63]).to_f32(), 5.0);
    /// });
    /// ```
    #[inline(always)]
    pub fn map_by_turns<U: Element>(
        self,
        function: impl Fn(T) -> U + Send + Sync + 'static,
    ) -> Tile<U, S, L> {
        if const { Self::REGISTERS <= TURN || size_of::<T::Bits>() != 4 } {
            return self.map(function);
        }
        Tile::from_registers_fn(|i| {
            if i.is_multiple_of(TURN) {
                arch::warpgroup::schedule_fence();
            }
            let bits = self.registers.get(i).to_bits();
            // SAFETY: the bits are a word, as was asked above, of the element that they are read as again.
            let element = unsafe {
                let word = arch::execution::rematerialise(core::ptr::from_ref(&bits).cast::<u32>().read());
                T::from_bits(core::ptr::from_ref(&word).cast::<T::Bits>().read())
            };
            function(element)
        })
    }

    /// Converts each element to type `U`, by the rules of [`Cast`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], -2.75f32).cast::<i8>();
    ///     assert_eq!(t.at([0]), -2);
    ///     assert_eq!(t.cast::<f16>().at([0]), f16::from_f32(-2.0));
    /// });
    /// ```
    #[inline(always)]
    pub fn cast<U: Element>(self) -> Tile<U, S, L>
    where
        T: Cast<U>,
    {
        self.map_pairs(T::cast, T::cast_pair)
    }

    /// Converts each element to type `U`, rounded by `mode`, by the table of [`CastWith`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.full(shape![4], 0.1f64);
    ///     assert_eq!(t.cast_with::<f32, _>(TowardNegative).at([0]), 0.1f32.next_down());
    ///     assert_eq!(t.cast_with::<f8e8m0, _>(TowardPositive).at([0]).to_f32(), 0.125);
    /// });
    /// ```
    #[inline(always)]
    pub fn cast_with<U: Element, R>(self, _mode: R) -> Tile<U, S, L>
    where
        T: CastWith<U, R>,
    {
        self.map_pairs(T::cast_with, T::cast_pair_with)
    }

    /// Applies `pair` to elements two by two, or `one` to each where that serves as well.
    #[inline(always)]
    fn map_pairs<U: Element>(self, one: impl Fn(T) -> U, pair: impl Fn(T, T) -> [U; 2]) -> Tile<U, S, L> {
        if Self::REGISTERS == 1 || !arch::TILES_IN_REGISTERS {
            return Tile::from_registers_fn(|i| one(self.registers.get(i)));
        }
        let mut registers = Registers::from_fn(|_| U::ZERO);
        <L::Registers<S>>::unroll(0, 2, &mut |i| {
            let [low, high] = pair(self.registers.get(i), self.registers.get(i + 1));
            registers.set(i, low);
            registers.set(i + 1, high);
        });
        Tile::from_registers(registers)
    }

    /// Reads the bits of each element as type `U` of the same size.
    ///
    /// A `bool` is one byte, which is true unless zero. [`tf32`](crate::element::tf32) and
    /// [`f4e2m1`](crate::element::f4e2m1) have fewer bits than their bytes and are read as themselves only; `repack` reads FP4.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     assert_eq!(cx.full(shape![2], 1.0f32).bitcast::<u32>().at([1]), 0x3f80_0000);
    /// });
    /// ```
    #[inline(always)]
    pub fn bitcast<U: Element>(self) -> Tile<U, S, L>
    where
        T::Bits: SameSize<U::Bits>,
    {
        const {
            assert!(
                T::BIT_WIDTH == U::BIT_WIDTH,
                "bitcast: tf32 has 19 bits and f4e2m1 has 4; only elements of equally many bits are read as one another"
            )
        };
        self.map(|x| U::from_bits(x.to_bits().same()))
    }

    /// The element at `index`, the same on every thread.
    ///
    /// Costs a trip through shared memory where other threads hold the element.
    ///
    /// # Panics
    /// If `index` has not as many numbers as the tile has dimensions, or one is not below its dimension (on the
    /// device: traps).
    #[inline(always)]
    #[track_caller]
    pub fn at<const R: usize>(self, index: [u32; R]) -> T {
        const { assert!(R == S::DESCRIPTION.rank, "Tile::at takes one index for each dimension of the tile") };
        let mut flat = 0;
        let mut axis = 0;
        while axis < R {
            if index[axis] as usize >> S::DESCRIPTION.log[axis] != 0 {
                let mut failure = arch::messages::Failure::new("", ELEMENT);
                failure.number(u64::from(index[axis]));
                failure.number(axis as u64);
                failure.number(1 << S::DESCRIPTION.log[axis]);
                failure.end()
            }
            flat |= (index[axis] as usize) << S::DESCRIPTION.low_bit(axis);
            axis += 1;
        }
        self.broadcast_element(flat)
    }

    /// The only element of a tile of one element, the same on every thread.
    #[inline(always)]
    pub fn item(self) -> T {
        const {
            assert!(
                S::LEN == 1,
                "Tile::item takes the element of a tile of exactly one element; use `at` for a larger tile"
            )
        };
        self.broadcast_element(0)
    }
}

sealed! { [T: Element, S: Shape, L: Layout] Tile<T, S, L>; }
