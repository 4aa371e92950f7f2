//! Larger tiles from smaller ones.

use crate::element::Element;
use crate::layout::movement::{Joining, Repetition, Stacking, Tiling};
use crate::layout::{Block, Blocked, Layout};
use crate::sealed::Sealed;
use crate::shape::{InsertAxis, Lengthen, Shape};
use crate::tile::Tile;

/// A tile with elements `T`, of shape `S`, over the threads of block `B`, which can join another tile of this kind.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be joined with a tile of shape `{S}` and elements `{T}`",
    label = "of another shape or element type",
    note = "`cat` and `stack` join two tiles of the same shape, element type and block"
)]
pub trait Joins<T: Element, S: Shape, B: Block>: Sealed {
    /// Its layout.
    type Layout: Layout<Block = B>;
    /// The tile itself.
    #[doc(hidden)]
    fn tile(self) -> Tile<T, S, Self::Layout>;
}

impl<T: Element, S: Shape, L: Layout> Joins<T, S, L::Block> for Tile<T, S, L> {
    type Layout = L;
    #[inline_on_device]
    fn tile(self) -> Self {
        self
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// This tile, then `other`, along axis `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]);
    ///     let both: Tile<i32, Shape2<2, 8>, _> = t.cat::<1>(-t);
    ///     assert_eq!((both.at([1, 3]), both.at([1, 4])), (7, -4));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Both tiles have the same shape and element type. The result is twice as long along the axis.
    ///
    /// # On a GPU
    ///
    /// The result has the layout [`Blocked`]. [`ops::shapes`](super#on-a-gpu) says when elements go through shared memory.
    #[inline_on_device]
    pub fn cat<const A: usize>(
        self,
        other: impl Joins<T, S, L::Block>,
    ) -> Tile<T, S::Longer, Blocked<L::Block>>
    where
        S: Lengthen<A, 2>,
    {
        self.moved_with::<S::Longer, _, Joining<A>>(other.tile())
    }

    /// This tile and `other` along a new axis `A` of size 2.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4]);
    ///     let pairs: Tile<i32, Shape2<4, 2>, _> = t.stack::<1>(-t);
    ///     assert_eq!((pairs.at([3, 0]), pairs.at([3, 1])), (3, -3));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// Both tiles have the same shape and element type. The new axis stands before the old axis `A`, or last.
    ///
    /// # On a GPU
    ///
    /// As [`cat`](Self::cat).
    #[inline_on_device]
    pub fn stack<const A: usize>(
        self,
        other: impl Joins<T, S, L::Block>,
    ) -> Tile<T, S::Inserted, Blocked<L::Block>>
    where
        S: InsertAxis<A, 2>,
    {
        self.moved_with::<S::Inserted, _, Stacking<A>>(other.tile())
    }

    /// Each element `N` times in a row, along axis `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape1<8>, _> = cx.iota(shape![4]).repeat::<0, 2>();
    ///     assert_eq!((t.at([2]), t.at([3])), (1, 1));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result is `N` times as long along the axis. `N` is a power of two.
    ///
    /// # On a GPU
    ///
    /// As [`cat`](Self::cat).
    #[inline_on_device]
    pub fn repeat<const A: usize, const N: usize>(self) -> Tile<T, S::Longer, Blocked<L::Block>>
    where
        S: Lengthen<A, N>,
    {
        self.moved::<S::Longer, Blocked<L::Block>, Repetition<A>>()
    }

    /// The whole tile `N` times in a row, along axis `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape1<8>, _> = cx.iota(shape![4]).tile::<0, 2>();
    ///     assert_eq!((t.at([3]), t.at([4])), (3, 0));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The result is `N` times as long along the axis. `N` is a power of two.
    ///
    /// # On a GPU
    ///
    /// As [`cat`](Self::cat).
    #[inline_on_device]
    pub fn tile<const A: usize, const N: usize>(self) -> Tile<T, S::Longer, Blocked<L::Block>>
    where
        S: Lengthen<A, N>,
    {
        self.moved::<S::Longer, Blocked<L::Block>, Tiling>()
    }

    /// The tile with `part` in place of its part at `index`, which counts parts along each axis.
    ///
    /// `index` is the same on all threads. [`extract`](Self::extract) takes a part out.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4, 4]).insert(cx.full(shape![2, 2], -1), [0, 1]);
    ///     assert_eq!((t.at([1, 1]), t.at([1, 2]), t.at([2, 2])), (5, -1, 10));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// A part is along no axis longer than the tile, and has its rank and element type.
    ///
    /// # Panics
    ///
    /// If there is no such part (on the device: traps).
    ///
    /// # On a GPU
    ///
    /// The result has the layout of the tile. The part is repeated in the shape of the tile, as [`ops::shapes`](super#on-a-gpu) describes. Each
    /// thread then selects the elements of the part or its own.
    #[inline_on_device]
    #[track_caller]
    pub fn insert<P: Shape<Rank = S::Rank>, M: Layout<Block = L::Block>, const R: usize>(
        self,
        part: Tile<T, P, M>,
        index: [u32; R],
    ) -> Self {
        const { Self::has_parts::<P, R>() };
        let (mask, first) = Self::part_offset::<P, R>(index);
        let part = part.moved::<S, L, Tiling>();
        let own = Self::thread_index();
        Tile::from_registers_fn(|i| {
            let inside = Self::flat_index(own, i) & mask == first;
            if inside { part.registers().get(i) } else { self.registers().get(i) }
        })
    }
}
