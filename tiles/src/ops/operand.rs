//! The right-hand side of an operation on a tile: another tile, or a scalar of the tile's own type.

use crate::element::{Element, Promote};
use crate::layout::{Join, Layout};
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape};
use crate::tile::{Spread, Tile};

/// What can stand on the right of an operation on a [`Tile<T, S, L>`](Tile): a tile whose shape broadcasts with
/// `S`, or a plain value of type `T`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be combined with the tile on the left",
    label = "not a fitting operand",
    note = "operands are tiles of a shape that broadcasts, and scalars of the tile's own element type"
)]
pub trait Operand<T: Element, S: Shape, L: Layout>: Sealed {
    /// Its element type.
    type Element: Element;
    /// The common shape.
    type Shape: Shape;
    /// The common layout.
    type Layout: Layout;
    /// The operand as a result of shape `To` and layout `M` sees it.
    type Prepared<To: Shape, M: Layout>: Fetch<Self::Element>;
    /// Brings the operand to shape `To` and layout `M`, through shared memory if need be.
    #[doc(hidden)]
    fn prepare<To: Shape, M: Layout>(self) -> Self::Prepared<To, M>;
    /// `function` of the left tile's elements and the operand's.
    #[doc(hidden)]
    #[inline_on_device]
    fn combine<V: Element>(
        self,
        left: Tile<T, S, L>,
        function: impl Fn(T, Self::Element) -> V,
    ) -> Tile<V, Self::Shape, Self::Layout>
    where
        Self: Sized,
    {
        let left = Spread::<T, S, L, Self::Shape, Self::Layout>::new(left);
        let right = self.prepare::<Self::Shape, Self::Layout>();
        Tile::from_registers_fn(|i| function(left.get(i), right.get(i)))
    }
}

/// Elements of a prepared operand, by register of the result.
pub trait Fetch<T> {
    /// The element in register `i`.
    #[doc(hidden)]
    fn get(&self, i: usize) -> T;
}

impl<T: Element, S: Shape, L: Layout, To: Shape, M: Layout> Fetch<T> for Spread<T, S, L, To, M> {
    #[inline_on_device]
    fn get(&self, i: usize) -> T {
        self.get(i)
    }
}

/// A scalar, the same in every register.
#[derive(Clone, Copy)]
pub struct Uniform<T>(T);

impl<T> Uniform<T> {
    /// `value` in every register.
    #[inline_on_device]
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Copy> Fetch<T> for Uniform<T> {
    #[inline_on_device]
    fn get(&self, _: usize) -> T {
        self.0
    }
}

impl<T, S, L, U, R, M> Operand<T, S, L> for Tile<U, R, M>
where
    T: Element,
    S: Shape + Broadcast<R>,
    L: Layout + Join<M>,
    U: Element,
    R: Shape,
    M: Layout,
{
    type Element = U;
    type Shape = <S as Broadcast<R>>::Output;
    type Layout = <L as Join<M>>::Output;
    type Prepared<To: Shape, N: Layout> = Spread<U, R, M, To, N>;
    #[inline_on_device]
    fn prepare<To: Shape, N: Layout>(self) -> Spread<U, R, M, To, N> {
        Spread::new(self)
    }
}

impl<T: Element, S: Shape, L: Layout> Operand<T, S, L> for T {
    type Element = T;
    type Shape = S;
    type Layout = L;
    type Prepared<To: Shape, M: Layout> = Uniform<T>;
    #[inline_on_device]
    fn prepare<To: Shape, M: Layout>(self) -> Uniform<T> {
        Uniform::new(self)
    }
}

/// The element type to which the elements `T` of a tile and those of the operand `R` promote.
pub type Promoted<T, S, L, R> = <T as Promote<<R as Operand<T, S, L>>::Element>>::Output;

/// What an operation on a tile [`Tile<T, S, L>`](Tile) and an operand `R` gives: a tile of the element type to which both promote, in
/// the shape to which both broadcast.
///
/// ```
/// use cuda_tiles::ops::Combined;
/// use cuda_tiles::prelude::*;
/// type Column<B> = Tile<f32, Shape2<4, 1>, Blocked<B>>;
/// fn larger<B: Block>(bytes: Tile<u8, Shape1<8>, Blocked<B>>, column: Column<B>) -> Combined<u8, Shape1<8>, Blocked<B>, Column<B>> {
///     bytes.maximum(column)
/// }
/// cuda_tiles::cpu::block(|cx| {
///     let both = larger(cx.iota(shape![8]), cx.full(shape![4, 1], 2.5));
///     assert_eq!((both.at([3, 2]), both.at([3, 7])), (2.5, 7.0));
/// });
/// ```
pub type Combined<T, S, L, R> =
    Tile<Promoted<T, S, L, R>, <R as Operand<T, S, L>>::Shape, <R as Operand<T, S, L>>::Layout>;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Applies `function` to the elements of this tile and of `other`, broadcast to their common shape.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (rows, columns) = (cx.iota::<i32>(shape![2, 1]), cx.iota::<i32>(shape![4]));
    ///     let t = rows.zip_map(columns, |r, c| 10 * r + c);
    ///     assert_eq!(t.at([1, 3]), 13);
    /// });
    /// ```
    #[inline_on_device]
    pub fn zip_map<V: Element, R: Operand<T, S, L>>(
        self,
        other: R,
        function: impl Fn(T, R::Element) -> V + Send + Sync + 'static,
    ) -> Tile<V, R::Shape, R::Layout> {
        other.combine(self, function)
    }
}
