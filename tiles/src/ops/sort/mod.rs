//! Sorting along an axis: values, positions, tuples of tiles, the largest elements.
//!
//! The order is total: [`Ordered`]. Floats go from negative infinity to infinity, -0 comes before +0, and NaN come last. In
//! [`Descending`] order everything is the other way round, so that NaN come first.
//!
//! Results are the same bits on every device and for every block size.
//!
//! # On a GPU
//!
//! The result has the layout [`Blocked`]. A tile of `n` elements along the axis takes `log n (log n + 1) / 2` rounds of
//! comparisons (K. E. Batcher, "Sorting networks and their applications", 1968). A round compares
//!
//! - registers of one thread, which is cheapest;
//! - lanes of a warp, by `shfl.sync.bfly.b32` (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync");
//! - or warps, through shared memory with two barriers.

mod algorithm;
mod order;

pub use order::{Ascending, Descending, SortOrder};

pub(super) use algorithm::sort;

use crate::element::{Element, Ordered};
use crate::layout::movement::Part;
use crate::layout::{Blocked, Layout, Map};
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::{Axis, AxisDimension, D, Dimension, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

/// The coordinate along axis `A` of the element in register `register` of thread `thread`.
#[inline_on_device]
pub(super) fn coordinate<S: Axis<A>, L: Layout, const A: usize>(thread: usize, register: usize) -> u32 {
    let map = const { &Map::<L, S>::MAP };
    let flat = map.of_thread.apply(thread) | map.of_register.apply(register);
    (flat / <S::Inner as PowerOfTwo>::COUNT % <S::Length as PowerOfTwo>::COUNT) as u32
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The elements sorted along axis `A`, the smallest first.
    ///
    /// NaN come last, and -0 comes before +0: [`Ordered`] has the order.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 8]) * 5 % 8 - 3;
    ///     assert_eq!((t.sort::<1>().at([1, 0]), t.sort::<1>().at([1, 7])), (-3, 4));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. The [module](self#on-a-gpu) has the rounds and their instructions.
    #[inline_on_device]
    pub fn sort<const A: usize>(self) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Ordered,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.sort_with::<A>(Ascending)
    }

    /// The elements sorted along axis `A` in an order, [`Ascending`] or [`Descending`].
    ///
    /// [`sort`](Self::sort) has an example, and the cost on a GPU.
    #[inline_on_device]
    pub fn sort_with<const A: usize>(self, order: impl SortOrder) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Ordered,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.sorted::<A, _>(order)
    }

    #[inline_on_device]
    fn sorted<const A: usize, O: SortOrder>(self, _order: O) -> Tile<T, S, Blocked<L::Block>>
    where
        T: Ordered,
        S: Axis<A>,
    {
        let tile = self.blocked();
        let keys = Registers::from_fn(|i| O::key(tile.registers().get(i)));
        let sorted = sort::<T::Key, S, L::Block, A>(keys, |a, b| a < b);
        Tile::from_registers_fn(|i| O::value(sorted.get(i)))
    }

    /// The positions along axis `A` from which the elements of the sorted tile come.
    ///
    /// Equal elements keep their order.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![8]) % 2;
    ///     assert_eq!((t.argsort::<0>().at([1]), t.argsort::<0>().at([4])), (2, 1));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result has the shape of the tile. Its element at place `k` is the position of the element that [`sort`](Self::sort) puts there.
    ///
    /// # On a GPU
    ///
    /// As [`sort`](Self::sort). The position goes with each element, as one more register and one more word in each exchange.
    #[inline_on_device]
    pub fn argsort<const A: usize>(self) -> Tile<u32, S, Blocked<L::Block>>
    where
        T: Ordered,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.argsort_with::<A>(Ascending)
    }

    /// The positions along axis `A` from which the elements of the tile sorted in an order come.
    ///
    /// The order is [`Ascending`] or [`Descending`]. Equal elements keep their order in both. [`argsort`](Self::argsort) has an example.
    #[inline_on_device]
    pub fn argsort_with<const A: usize>(self, order: impl SortOrder) -> Tile<u32, S, Blocked<L::Block>>
    where
        T: Ordered,
        S: Axis<A>,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        self.sort_located::<A, _>(order).1
    }

    /// The `K` largest elements along axis `A`, the largest first, and their positions.
    ///
    /// Of equal elements the first come first. NaN are larger than all numbers.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let scores = cx.iota::<i32>(shape![2, 8]) * 3 % 8;
    ///     let (best, at) = scores.top_k::<1, 2>();
    ///     assert_eq!((best.at([0, 0]), at.at([0, 0])), (7, 5));
    ///     assert_eq!((best.at([0, 1]), at.at([0, 1])), (6, 2));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Both tiles have length `K` along the axis. A `K` that is larger than the axis does not compile.
    ///
    /// # On a GPU
    ///
    /// The whole axis is sorted, as by [`argsort`](Self::argsort), whatever `K` is. Both results have the layout [`Blocked`].
    #[inline_on_device]
    #[allow(clippy::type_complexity, reason = "two tiles of one type, but for their elements")]
    pub fn top_k<const A: usize, const K: usize>(
        self,
    ) -> (Tile<T, S::With<D<K>>, Blocked<L::Block>>, Tile<u32, S::With<D<K>>, Blocked<L::Block>>)
    where
        T: Ordered,
        S: Axis<A> + AxisDimension<A>,
        D<K>: Dimension,
    {
        const { assert!(!is_padded::<S>(A), "{}", PADDED_AXIS) };
        const {
            assert!(K <= S::Length::COUNT, "top_k: more elements are asked for than the axis of the tile has")
        };
        let (values, positions) = self.sort_located::<A, _>(Descending);
        (values.moved::<_, _, Part<A, 0>>(), positions.moved::<_, _, Part<A, 0>>())
    }

    /// The sorted elements, and where they come from.
    #[inline_on_device]
    fn sort_located<const A: usize, O: SortOrder>(
        self,
        _order: O,
    ) -> (Tile<T, S, Blocked<L::Block>>, Tile<u32, S, Blocked<L::Block>>)
    where
        T: Ordered,
        S: Axis<A>,
    {
        let tile = self.blocked();
        let thread = crate::arch::execution::thread();
        let located = Registers::from_fn(|i| {
            (O::key(tile.registers().get(i)), coordinate::<S, Blocked<L::Block>, A>(thread, i))
        });
        let sorted = sort::<(T::Key, u32), S, L::Block, A>(located, |a, b| a < b);
        (Tile::from_registers_fn(|i| O::value(sorted.get(i).0)), Tile::from_registers_fn(|i| sorted.get(i).1))
    }
}
