//! Other shapes of the same elements: reshape, dimensions of size 1, broadcasting.

use crate::element::Element;
use crate::layout::{Blocked, Layout, Permuting};
use crate::shape::{AxisOrder, Broadcast, ExpandDimension, FitsShape, Shape, Swap, Transpose};
use crate::tile::Tile;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// The same elements in row-major order under another shape of the same size. Moves nothing.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![8]).reshape(shape![2, 4]);
    ///     assert_eq!(t.at([1, 0]), 4);
    /// });
    /// ```
    #[inline(always)]
    pub fn reshape<R: Shape>(self, _shape: R) -> Tile<T, R, L> {
        const { assert!(S::LEN == R::LEN, "reshape: the new shape must have as many elements as the tile") };
        // A layout maps flat indices, which a reshape leaves alone.
        Tile::from_registers_fn(|i| self.registers().get(i))
    }

    /// The tile with a dimension of size 1 put in at position `A`. Moves nothing.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape2<4, 1>, _> = cx.iota(shape![4]).expand_dims::<1>();
    ///     assert_eq!(t.at([3, 0]), 3);
    /// });
    /// ```
    #[inline(always)]
    pub fn expand_dims<const A: usize>(self) -> Tile<T, S::Expanded, L>
    where
        S: ExpandDimension<A>,
    {
        self.reshape(S::Expanded::default())
    }

    /// The tile repeated along dimensions of size 1 and along new leading dimensions, by NumPy's rules.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![4]).broadcast(shape![2, 4]);
    ///     assert_eq!(t.at([1, 3]), 3);
    /// });
    /// ```
    #[inline(always)]
    pub fn broadcast<R: Shape>(self, _shape: R) -> Tile<T, R, L>
    where
        S: Broadcast<R, Output: FitsShape<R>>,
    {
        self.spread()
    }

    /// The tile with its axes in the given order: axis `k` of the result is axis `order[k]` of this tile.
    ///
    /// One exchange through shared memory, or none where the threads keep their elements.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![2, 4, 8]);
    ///     let p = t.permute(axes![2, 0, 1]);
    ///     assert_eq!(p.at([7, 1, 3]), t.at([1, 3, 7]));
    ///     assert_eq!(t.permute(OrderF).at([7, 3, 1]), t.at([1, 3, 7]));
    /// });
    /// ```
    #[inline(always)]
    pub fn permute<O: AxisOrder<S> + 'static>(self, _order: O) -> Tile<T, O::Permuted, Blocked<L::Block>> {
        self.moved::<O::Permuted, Permuting<O>>()
    }

    /// The tile with axes `A` and `B` swapped, the other axes as they are: `transpose::<0, 1>()` of a matrix.
    ///
    /// CUDA Tile C++ always swaps the first two axes, NumPy reverses all of them ([`permute(OrderF)`](Tile::permute)); here
    /// both axes are named, at every rank. A batch of matrices is transposed by `transpose::<1, 2>()`.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t: Tile<i32, Shape2<4, 2>, _> = cx.iota(shape![2, 4]).transpose::<0, 1>();
    ///     assert_eq!(t.at([3, 1]), 7);
    /// });
    /// ```
    #[inline(always)]
    pub fn transpose<const A: usize, const B: usize>(self) -> Tile<T, S::Transposed, Blocked<L::Block>>
    where
        S: Transpose<A, B>,
    {
        self.permute(Swap::<A, B>)
    }

    /// The tile in the layout of loads and creations, in which loop-carried tiles can be declared.
    #[inline(always)]
    pub fn blocked(self) -> Tile<T, S, Blocked<L::Block>> {
        self.spread()
    }
}
