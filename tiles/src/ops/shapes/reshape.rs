//! The same elements under another shape.

use crate::element::Element;
use crate::layout::Layout;
use crate::layout::movement::Renaming;
use crate::shape::{Broadcast, ExpandDimension, FitsShape, Flatten, Shape, Squeeze};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The same elements in row-major order under another shape.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![8]).reshape(shape![2, 4]);
    ///     assert_eq!(t.at([1, 0]), 4);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The new shape has as many elements as the tile. Another number of elements does not compile.
    ///
    /// # On a GPU
    ///
    /// The layout stays, and elements stay in their registers. Only accumulators whose rows or columns change move theirs.
    #[inline_on_device]
    pub fn reshape<R: Shape>(self, _shape: R) -> Tile<T, R, L> {
        const { assert!(S::LEN == R::LEN, "reshape: the new shape must have as many elements as the tile") };
        // Most layouts map flat indices, which a reshape leaves alone; accumulators have rows and columns.
        self.moved::<R, L, Renaming>()
    }

    /// The tile with an axis of size 1 put in at position `A`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape2<4, 1>, _> = cx.iota(shape![4]).expand_dims::<1>();
    ///     assert_eq!(t.at([3, 0]), 3);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// A [`reshape`](Self::reshape), which mostly costs nothing.
    #[inline_on_device]
    pub fn expand_dims<const A: usize>(self) -> Tile<T, S::Expanded, L>
    where
        S: ExpandDimension<A>,
    {
        self.reshape(S::Expanded::default())
    }

    /// The tile without its axis `A`, which has size 1.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let sums: Tile<i32, Shape1<2>, _> = cx.iota::<i32>(shape![2, 4]).sum::<1>().squeeze::<1>();
    ///     assert_eq!(sums.at([1]), 4 + 5 + 6 + 7);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// A [`reshape`](Self::reshape), which mostly costs nothing.
    #[inline_on_device]
    #[doc(alias("keepdims"))]
    pub fn squeeze<const A: usize>(self) -> Tile<T, S::Squeezed, L>
    where
        S: Squeeze<A>,
    {
        self.reshape(S::Squeezed::default())
    }

    /// The elements in row-major order as a tile of rank 1.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape1<8>, _> = cx.iota(shape![2, 4]).flatten();
    ///     assert_eq!(t.at([5]), 5);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// A [`reshape`](Self::reshape), which mostly costs nothing.
    #[inline_on_device]
    #[doc(alias("ravel"))]
    pub fn flatten(self) -> Tile<T, S::Flat, L>
    where
        S: Flatten,
    {
        self.reshape(S::Flat::default())
    }

    /// The tile repeated along axes of size 1 and along new leading axes, by NumPy's rules.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4]).broadcast(shape![2, 4]);
    ///     assert_eq!(t.at([1, 3]), 3);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// A shape to which the tile does not broadcast does not compile. Operations on two tiles broadcast by themselves.
    ///
    /// # On a GPU
    ///
    /// The layout stays. [`ops::shapes`](super#on-a-gpu) says when elements go through shared memory.
    #[inline_on_device]
    #[doc(alias("broadcast_to"))]
    pub fn broadcast<R: Shape>(self, _shape: R) -> Tile<T, R, L>
    where
        S: Broadcast<R, Output: FitsShape<R>>,
    {
        self.spread()
    }
}
