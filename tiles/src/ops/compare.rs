//! Comparisons, which give tiles of `bool`, and selection by such a tile.

use super::Operand;
use super::operand::{Fetch, Promoted};
use crate::element::{Cast, Classify, Comparable, Element, Promote};
use crate::layout::{Join, Layout};
use crate::shape::{Broadcast, Shape};
use crate::tile::{Spread, Tile};

macro_rules! comparisons {
    ($($(#[$attribute:meta])* $name:ident: |$a:ident, $b:ident| $result:expr, $bound:ident;)*) => {
        /// Both sides are promoted to their common type. With a NaN every comparison is false but `ne`, which is true.
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline_on_device]
            pub fn $name<R: Operand<T, S, L>>(self, other: R) -> Tile<bool, R::Shape, R::Layout>
            where
                T: Promote<R::Element, Output: $bound>,
            {
                other.combine(self, |a, b| {
                    let ($a, $b) = (Cast::<Promoted<T, S, L, R>>::cast(a), T::promote(b));
                    $result
                })
            }
        )* }
    };
}
comparisons! {
    /// Whether elements are equal.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![4]);
    ///     assert!(t.eq(2).at([2]) && t.lt(1).at([0]) && !t.ge(3).at([2]));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The operand broadcasts, and both sides are promoted to their common type.
    #[doc(alias("equal", "eq_tile"))]
    eq: |a, b| a == b, Element;
    /// Whether elements differ: the opposite of [`eq`](Self::eq), and true with a NaN.
    ne: |a, b| a != b, Element;
    /// Whether elements are smaller than those of `other`; false with a NaN.
    ///
    /// [`eq`](Self::eq) has an example, and the shapes.
    lt: |a, b| a.less(b), Comparable;
    /// Whether elements are smaller than those of `other` or equal; false with a NaN.
    le: |a, b| a.less_equal(b), Comparable;
    /// Whether elements are larger than those of `other`; false with a NaN.
    gt: |a, b| b.less(a), Comparable;
    /// Whether elements are larger than those of `other` or equal; false with a NaN.
    ge: |a, b| b.less_equal(a), Comparable;
}

/// A choice of `select`: a tile whose shape broadcasts, or a scalar, of element type `T`.
#[diagnostic::on_unimplemented(
    message = "`select` cannot choose between elements of `{T}` and `{Self}`",
    label = "not a tile or scalar of `{T}`",
    note = "both choices have one element type, and shapes that broadcast with the condition's; convert first: `.cast::<{T}>()`"
)]
pub trait Choice<T: Element, S: Shape, L: Layout>: Operand<T, S, L, Element = T> {}

impl<T, S, L, R, M> Choice<T, S, L> for Tile<T, R, M>
where
    T: Element,
    S: Shape + Broadcast<R>,
    L: Layout + Join<M>,
    R: Shape,
    M: Layout,
{
}

impl<T: Element, S: Shape, L: Layout> Choice<T, S, L> for T {}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// The elements of `then` where this tile is true, and of `otherwise` where it is false.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4]);
    ///     let even = (t % 2).eq(0).select(t, -t);
    ///     assert_eq!((even.at([1, 2]), even.at([1, 3])), (6, -7));
    ///     let cut = t.lt(5).select(t.cast(), 5.5f32);
    ///     assert_eq!((cut.at([1, 0]), cut.at([1, 3])), (4.0, 5.5));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// All three broadcast. Both choices are tiles or scalars of one element type, and both are computed.
    #[inline_on_device]
    #[doc(alias("where"))]
    pub fn select<T, A, B>(self, then: A, otherwise: B) -> Tile<T, B::Shape, B::Layout>
    where
        T: Element,
        A: Choice<T, S, L>,
        B: Choice<T, A::Shape, A::Layout>,
    {
        let condition = Spread::<bool, S, L, B::Shape, B::Layout>::new(self);
        let then = then.prepare::<B::Shape, B::Layout>();
        let otherwise = otherwise.prepare::<B::Shape, B::Layout>();
        Tile::from_registers_fn(|i| if condition.get(i) { then.get(i) } else { otherwise.get(i) })
    }
}

macro_rules! logical {
    ($($(#[$attribute:meta])* $name:ident: |$a:ident, $b:ident| $result:expr;)*) => {
        /// Logic of numbers: an element is true unless it is zero, and a NaN is true.
        impl<T: Element + Cast<bool>, S: Shape, L: Layout> Tile<T, S, L> {
            $(
                $(#[$attribute])*
                #[inline_on_device]
                pub fn $name<R: Operand<T, S, L>>(self, other: R) -> Tile<bool, R::Shape, R::Layout>
                where
                    R::Element: Cast<bool>,
                {
                    other.combine(self, |a, b| {
                        let ($a, $b): (bool, bool) = (a.cast(), b.cast());
                        $result
                    })
                }
            )*

            /// Whether elements are false, by the rules of [`logical_and`](Self::logical_and).
            #[inline_on_device]
            pub fn logical_not(self) -> Tile<bool, S, L> {
                Tile::from_registers_fn(|i| !Cast::<bool>::cast(self.registers().get(i)))
            }
        }
    };
}
logical! {
    /// Whether both elements are true.
    ///
    /// An element is true unless it is zero, and a NaN is true. Both sides are computed.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (t, nan) = (cx.iota::<i32>(shape![4]), cx.full(shape![4], f32::NAN));
    ///     let both = t.logical_and(nan);
    ///     assert!(!both.at([0]) && both.at([1]));
    /// });
    /// ```
    logical_and: |a, b| a & b;
    /// Whether one or both elements are true, by the rules of [`logical_and`](Self::logical_and).
    logical_or: |a, b| a | b;
    /// Whether exactly one element is true, by the rules of [`logical_and`](Self::logical_and).
    logical_xor: |a, b| a != b;
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Whether elements are NaN; integers never are.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.tile_of([1.0f32, f32::NAN, f32::INFINITY, 0.0]);
    ///     assert!(t.is_nan().at([1]) && !t.is_nan().at([2]));
    ///     assert!(t.is_infinite().at([2]) && !t.is_infinite().at([1]));
    /// });
    /// ```
    #[inline_on_device]
    pub fn is_nan(self) -> Tile<bool, S, L>
    where
        T: Classify,
    {
        Tile::from_registers_fn(|i| self.registers().get(i).classify_nan())
    }

    /// Whether elements are infinite; integers never are.
    ///
    /// [`is_nan`](Self::is_nan) has an example.
    #[inline_on_device]
    #[doc(alias("isinf"))]
    pub fn is_infinite(self) -> Tile<bool, S, L>
    where
        T: Classify,
    {
        Tile::from_registers_fn(|i| self.registers().get(i).classify_infinite())
    }
}
