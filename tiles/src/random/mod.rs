//! Random numbers, a tile at a time, the same on every device.
//!
//! [`Philox`] has no state: element `n` of a stream is a function of seed, stream and `n`. A kernel gives each tile the
//! number of its first element, and gets the same numbers whatever the grid, the block and the tile are, on the GPU
//! and on the CPU alike, to the bit.
//!
//! Dropout, whose mask the backward pass makes again instead of storing it:
//!
//! ```
//! use cuda_tiles::prelude::*;
//!
//! #[kernel(threads = 128)]
//! fn dropout(cx: Cx, seed: u64, keep: f32, x: Span<f32, (u32,)>, y: SpanMut<f32, (u32,)>) {
//!     let (x, y) = (x.partition(cx, shape![1024]), y.partition(cx, shape![1024]));
//!     let i = cx.bid::<0>();
//!     let kept = Philox::new(cx, seed, 0).bernoulli(shape![1024], u64::from(*i) * 1024, keep);
//!     y.store_masked(kept.select(x.load_masked(Zero, i) / keep, cx.zeros(shape![1024])), i);
//! }
//! ```

mod distribution;
mod normal;
mod philox;

pub use distribution::{
    Bernoulli, ClosedOpen, Distribution, Normal, OpenClosed, RandomBits, RandomFloat, RandomInteger,
    UniformRange,
};

use crate::arch::execution;
use crate::context::Cx;
use crate::element::Element;
use crate::layout::{Block, Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::sealed::{Sealed, sealed};
use crate::shape::Shape;
use crate::tile::Tile;
use core::marker::PhantomData;
use core::ops::RangeInclusive;

/// A generator: one stream of Philox4x32-10 under a seed.
///
/// ```
/// use cuda_tiles::prelude::*;
/// cuda_tiles::cpu::block(|cx| {
///     let random = Philox::new(cx, 42, 0);
///     let all = random.bits::<u32>(shape![8], 0);
///     let tail = random.bits::<u32>(shape![4], 3);
///     assert_eq!(all.at([5]), tail.at([2]));
///     let x = random.uniform::<f32>(shape![64, 64], 0);
///     assert!((x.sum::<ALL>().item() / 4096.0 - 0.5).abs() < 0.02);
/// });
/// ```
///
/// # Shapes
///
/// Every method makes the tile whose row-major element `f` is element `offset + f` of the stream, modulo 2⁶⁴. Tiles that must differ have
/// different offsets or streams. Distributions that are taken from the same place of a stream are made of the same bits.
///
/// # On a GPU
///
/// Tiles have the layout [`Blocked`]. Each thread computes the groups of elements that it holds. A group has four elements, or two
/// of 64 bits or of a range.
/// Offsets that are multiples of 4 take half the work of others.
pub struct Philox<B> {
    seed: u64,
    stream: u64,
    block: PhantomData<Cx<B>>,
}

impl<B> Clone for Philox<B> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Philox<B> {}

impl<B: Block> Philox<B> {
    /// Stream `stream` under `seed`.
    ///
    /// The key is the seed. The counter is the number of a group of elements and the stream, low words first. [`Philox`] has an example.
    #[inline_on_device]
    pub fn new(_cx: Cx<B>, seed: u64, stream: u64) -> Self {
        Self { seed, stream, block: PhantomData }
    }

    /// Another stream under the same seed.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let first = Philox::new(cx, 42, 0);
    ///     let same = first.with_stream(7).uniform_range(shape![8], 0, 0u32..=99);
    ///     let other = Philox::new(cx, 42, 7).uniform_range(shape![8], 0, 0u32..=99);
    ///     assert!(same.eq(other).all::<0>().item());
    /// });
    /// ```
    #[inline_on_device]
    pub fn with_stream(self, stream: u64) -> Self {
        Self { stream, ..self }
    }

    /// Integers of a range, both ends included: `i32`, `i64`, `u32` or `u64`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let dice = Philox::new(cx, 1, 2).uniform_range(shape![512], 0, 1..=6);
    ///     assert_eq!((dice.min::<0>().item(), dice.max::<0>().item()), (1, 6));
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// A 64-bit word is scaled to the range without rejection (D. Lemire, "Fast random integer generation in an interval",
    /// 2019). The probability of one of `n` numbers is therefore off by less than 2⁻⁶⁴. For 32-bit types nobody can measure it.
    /// For 64-bit types a range near 2⁶⁴ has numbers up to twice as likely as others.
    ///
    /// # Panics
    ///
    /// If the range is empty (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn uniform_range<T: RandomInteger, S: Shape>(
        self,
        shape: S,
        offset: u64,
        range: RangeInclusive<T>,
    ) -> Tile<T, S, Blocked<B>> {
        let (first, last) = range.into_inner();
        if last < first {
            execution::fail(|text| text.write_str("a range of random numbers is not empty"));
        }
        self.sample(shape, offset, UniformRange { first, last })
    }

    /// True with this probability, in steps of 2⁻²⁴.
    ///
    /// An element is true where the number of [`uniform`](Draw::uniform) is below the probability.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let random = Philox::new(cx, 3, 0);
    ///     let share = random.bernoulli(shape![8192], 0, 0.25).count::<0>().item() as f32 / 8192.0;
    ///     assert!((share - 0.25).abs() < 0.02);
    ///     assert!(random.bernoulli(shape![64], 0, 1.0).all::<0>().item());
    /// });
    /// ```
    #[inline_on_device]
    pub fn bernoulli<S: Shape>(self, shape: S, offset: u64, probability: f32) -> Tile<bool, S, Blocked<B>> {
        self.sample(shape, offset, Bernoulli(probability))
    }

    /// The elements of a tile from `offset` on.
    #[inline_on_device]
    fn sampled<T: Element, S: Shape, D: Distribution<T>>(
        self,
        offset: u64,
        distribution: D,
    ) -> Tile<T, S, Blocked<B>> {
        let own = Map::<Blocked<B>, S>::MAP.of_thread.apply(execution::thread());
        let map = const { &Map::<Blocked<B>, S>::MAP };
        let size = const { D::GROUP };
        // Whether registers hold whole groups, in order.
        let whole = const {
            let map = &Map::<Blocked<B>, S>::MAP;
            Tile::<T, S, Blocked<B>>::REGISTERS >= D::GROUP
                && map.of_register.apply(1) == 1
                && (D::GROUP == 2 || map.of_register.apply(2) == 2)
        };
        if !whole {
            return Tile::from_registers_fn(|i| {
                let number = offset.wrapping_add((own | map.of_register.apply(i)) as u64);
                choose(self.group(distribution, number / size as u64), number as usize % size)
            });
        }
        let shift = offset as usize % size;
        let mut registers = Registers::from_fn(|_| T::ZERO);
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, size, &mut |i| {
            let number = offset.wrapping_add((own | map.of_register.apply(i)) as u64);
            let first = self.group(distribution, number / size as u64);
            let second = if shift == 0 {
                first
            } else {
                // Behind the last group of the stream comes its first one.
                self.group(distribution, number.wrapping_add(size as u64) / size as u64)
            };
            let mut k = 0;
            while k < size {
                let at = |k: usize| if k < size { first[k] } else { second[k - size] };
                let element = match shift {
                    0 => at(k),
                    1 => at(k + 1),
                    2 if size == 4 => at(k + 2),
                    _ if size == 4 => at(k + 3),
                    _ => at(k),
                };
                registers.set(i + k, element);
                k += 1;
            }
        });
        Tile::from_registers(registers)
    }

    /// The elements of group `number`.
    #[inline_on_device]
    fn group<T: Element, D: Distribution<T>>(self, distribution: D, number: u64) -> [T; 4] {
        let counter = [number as u32, (number >> 32) as u32, self.stream as u32, (self.stream >> 32) as u32];
        distribution.group(philox::philox(counter, [self.seed as u32, (self.seed >> 32) as u32]))
    }
}

/// Tiles of random numbers whose element type a call names: `random.uniform::<f32>(shape![8, 8], 0)`. [`Philox`] draws them.
///
/// The shape is a parameter of this trait, and not of its methods. A call therefore names the element type alone.
pub trait Draw<S: Shape>: Sealed + Sized {
    /// The block that holds the tiles.
    type Block: Block;
    /// Elements of any of the [distributions](Distribution).
    ///
    /// The other methods are this one with a distribution of their own.
    fn sample<T: Element>(
        self,
        shape: S,
        offset: u64,
        distribution: impl Distribution<T>,
    ) -> Tile<T, S, Blocked<Self::Block>>;

    /// Random bits, of type `u32` or `u64`.
    ///
    /// [`Philox`] has an example.
    #[inline_on_device]
    fn bits<T: Element>(self, shape: S, offset: u64) -> Tile<T, S, Blocked<Self::Block>>
    where
        RandomBits: Distribution<T>,
    {
        self.sample(shape, offset, RandomBits)
    }

    /// Uniform numbers from 0 to below 1.
    ///
    /// [`Philox`] has an example.
    ///
    /// # Accuracy
    ///
    /// The numbers are the multiples of 2⁻²⁴ for `f32`, 2⁻⁵³ for `f64`, 2⁻¹¹ for `f16`, and 2⁻⁸ for `bf16`.
    #[inline_on_device]
    fn uniform<T: RandomFloat>(self, shape: S, offset: u64) -> Tile<T, S, Blocked<Self::Block>> {
        self.sample(shape, offset, ClosedOpen)
    }

    /// Uniform numbers from above 0 to 1, which are safe for logarithms.
    ///
    /// They are the numbers of [`uniform`](Self::uniform), and one unit more.
    #[inline_on_device]
    fn uniform_above_zero<T: RandomFloat>(self, shape: S, offset: u64) -> Tile<T, S, Blocked<Self::Block>> {
        self.sample(shape, offset, OpenClosed)
    }

    /// Normal numbers of mean 0 and variance 1.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = Philox::new(cx, 7, 0).normal::<f64>(shape![8192], 0);
    ///     assert!((x.sum::<ALL>().item() / 8192.0).abs() < 0.05);
    ///     assert!(((x * x).sum::<ALL>().item() / 8192.0 - 1.0).abs() < 0.05);
    /// });
    /// ```
    ///
    /// # Accuracy
    ///
    /// The method is that of Box and Muller: neighbours are the two results of one pair of uniform numbers. `f16` and `bf16` are rounded from
    /// `f32`.
    #[inline_on_device]
    fn normal<T: RandomFloat>(self, shape: S, offset: u64) -> Tile<T, S, Blocked<Self::Block>> {
        self.sample(shape, offset, Normal)
    }
}

impl<B: Block, S: Shape> Draw<S> for Philox<B> {
    type Block = B;
    #[inline_on_device]
    fn sample<T: Element>(
        self,
        _shape: S,
        offset: u64,
        distribution: impl Distribution<T>,
    ) -> Tile<T, S, Blocked<B>> {
        self.sampled(offset, distribution)
    }
}

sealed! { [B] Philox<B>; }

/// Element `index` below 4, by comparisons: an array that is indexed at run time lies in memory.
#[inline_on_device]
fn choose<T: Copy>([a, b, c, d]: [T; 4], index: usize) -> T {
    let (even, odd) = if index & 2 == 0 { (a, b) } else { (c, d) };
    if index & 1 == 0 { even } else { odd }
}
