//! Comparisons, which give tiles of `bool`, and selection by such a tile.

use super::Operand;
use super::operand::Promoted;
use crate::element::{Cast, Classify, Element, Number, Promote};
use crate::layout::{Join, Layout};
use crate::shape::{Broadcast, Shape};
use crate::tile::{Spread, Tile};

macro_rules! comparisons {
    ($($(#[$attribute:meta])* $name:ident: |$a:ident, $b:ident| $result:expr, $bound:ident;)*) => {
        /// Both sides are promoted to their common type. With a NaN every comparison is false but `ne`, which is true.
        impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> { $(
            $(#[$attribute])*
            #[inline(always)]
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
    ///     let t = cx.iota::<i32, _>(shape![4]);
    ///     assert!(t.eq(2).at([2]) && t.lt(1).at([0]) && !t.ge(3).at([2]));
    /// });
    /// ```
    eq: |a, b| a == b, Element;
    /// Whether elements differ; true with a NaN.
    ne: |a, b| a != b, Element;
    /// Whether elements of this tile are smaller.
    lt: |a, b| a.less(b), Number;
    /// Whether elements of this tile are smaller or equal.
    le: |a, b| a.less_equal(b), Number;
    /// Whether elements of this tile are larger.
    gt: |a, b| b.less(a), Number;
    /// Whether elements of this tile are larger or equal.
    ge: |a, b| b.less_equal(a), Number;
}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// Elements of `then` where this tile is true and of `otherwise` where it is false; all three broadcast.
    ///
    /// Both sides are tiles of one element type, and both are computed.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32, _>(shape![2, 4]);
    ///     let even = (t % 2).eq(0).select(t, -t);
    ///     assert_eq!((even.at([1, 2]), even.at([1, 3])), (6, -7));
    /// });
    /// ```
    #[inline(always)]
    pub fn select<T, R, M, Q, N>(
        self,
        then: Tile<T, R, M>,
        otherwise: Tile<T, Q, N>,
    ) -> Tile<T, Selected<S, R, Q>, SelectedLayout<L, M, N>>
    where
        T: Element,
        R: Shape + Broadcast<Q>,
        M: Layout + Join<N>,
        Q: Shape,
        N: Layout,
        S: Broadcast<<R as Broadcast<Q>>::Output>,
        L: Join<<M as Join<N>>::Output>,
    {
        let condition = Spread::<bool, S, L, Selected<S, R, Q>, SelectedLayout<L, M, N>>::new(self);
        let then = Spread::<T, R, M, Selected<S, R, Q>, SelectedLayout<L, M, N>>::new(then);
        let otherwise = Spread::<T, Q, N, Selected<S, R, Q>, SelectedLayout<L, M, N>>::new(otherwise);
        Tile::from_registers_fn(|i| if condition.get(i) { then.get(i) } else { otherwise.get(i) })
    }
}

/// The common shape of a condition and two choices.
pub type Selected<S, R, Q> = <S as Broadcast<<R as Broadcast<Q>>::Output>>::Output;
/// The common layout of a condition and two choices.
pub type SelectedLayout<L, M, N> = <L as Join<<M as Join<N>>::Output>>::Output;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Whether elements are NaN; integers never are.
    #[inline(always)]
    pub fn is_nan(self) -> Tile<bool, S, L>
    where
        T: Classify,
    {
        Tile::from_registers_fn(|i| self.registers().get(i).classify_nan())
    }
}
