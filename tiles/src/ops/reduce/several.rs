//! Reductions along several axes at once.

use super::rounded;
use crate::element::{Comparable, Element, Logical, Number};
use crate::layout::{Layout, Slice};
use crate::ops::modes::{NanMode, SuppressNan};
use crate::sealed::Sealed;
use crate::shape::{Axis, D, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

/// Axes of a tile of shape `S`, made by [`axes!`](crate::axes): `axes![0, 2]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not list axes of a tile of shape `{S}`",
    label = "not axes of this tile",
    note = "`axes![0, 2]` names one to four axes of the tile, each below its rank"
)]
pub trait AxisList<S: Shape, L: Layout>: Sealed + Copy {
    /// The shape with these axes at size 1.
    type Shape: Shape;
    /// Every thread keeps the results of its own elements.
    type Layout: Layout;
    /// The axes.
    const AXES: &'static [usize];
    #[doc(hidden)]
    fn fold<T: Element>(
        tile: Tile<T, S, L>,
        combine: impl Fn(T, T) -> T,
    ) -> Tile<T, Self::Shape, Self::Layout>;
    #[doc(hidden)]
    fn total<T: Element, V: Element>(
        tile: Tile<T, S, L>,
        begin: impl Fn(T) -> V,
        combine: impl Fn(V, V) -> V,
    ) -> Tile<V, Self::Shape, Self::Layout>;
}

impl<S: Axis<A>, L: Layout, const A: usize> AxisList<S, L> for (D<A>,) {
    type Shape = S::Reduced;
    type Layout = Slice<L, S, A>;
    const AXES: &'static [usize] = &[A];
    #[inline_on_device]
    fn fold<T: Element>(
        tile: Tile<T, S, L>,
        combine: impl Fn(T, T) -> T,
    ) -> Tile<T, Self::Shape, Self::Layout> {
        tile.fold::<A>(combine)
    }
    #[inline_on_device]
    fn total<T: Element, V: Element>(
        tile: Tile<T, S, L>,
        begin: impl Fn(T) -> V,
        combine: impl Fn(V, V) -> V,
    ) -> Tile<V, Self::Shape, Self::Layout> {
        tile.total::<V, A>(begin, combine)
    }
}

macro_rules! lists {
    ($($first:ident $($rest:ident)*;)*) => { $(
        impl<S, L, $(const $rest: usize,)* const $first: usize> AxisList<S, L> for (D<$first>, $(D<$rest>,)*)
        where
            S: Axis<$first>,
            L: Layout,
            ($(D<$rest>,)*): AxisList<S::Reduced, Slice<L, S, $first>>,
        {
            type Shape = <($(D<$rest>,)*) as AxisList<S::Reduced, Slice<L, S, $first>>>::Shape;
            type Layout = <($(D<$rest>,)*) as AxisList<S::Reduced, Slice<L, S, $first>>>::Layout;
            const AXES: &'static [usize] = &[$first, $($rest),*];
            #[inline_on_device]
            fn fold<T: Element>(
                tile: Tile<T, S, L>,
                combine: impl Fn(T, T) -> T,
            ) -> Tile<T, Self::Shape, Self::Layout> {
                <($(D<$rest>,)*)>::fold(tile.fold::<$first>(&combine), combine)
            }
            #[inline_on_device]
            fn total<T: Element, V: Element>(
                tile: Tile<T, S, L>,
                begin: impl Fn(T) -> V,
                combine: impl Fn(V, V) -> V,
            ) -> Tile<V, Self::Shape, Self::Layout> {
                <($(D<$rest>,)*)>::total(tile.total::<V, $first>(begin, &combine), |total| total, combine)
            }
        }
    )* };
}
lists! { A B; A B C; A B C E; }

/// The result of reducing a tile over the axes of a list.
type Over<T, S, L, X> = Tile<T, <X as AxisList<S, L>>::Shape, <X as AxisList<S, L>>::Layout>;

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Each axis is there once, and whole.
    const fn assert_axes(axes: &[usize]) {
        let mut later = 0;
        while later < axes.len() {
            assert!(!is_padded::<S>(axes[later]), "{}", PADDED_AXIS);
            let mut earlier = 0;
            while earlier < later {
                assert!(axes[earlier] != axes[later], "the axes of a reduction are different ones");
                earlier += 1;
            }
            later += 1;
        }
    }

    /// Sums along several axes, each of which stays with size 1.
    ///
    /// Integers wrap. `f16` and `bf16` are added up in `f32`, and rounded once after the last axis.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 4, 2]);
    ///     let sums: Tile<i32, Shape3<1, 4, 1>, _> = t.sum_over(axes![0, 2]);
    ///     assert_eq!(sums.at([0, 1, 0]), 2 + 3 + 10 + 11);
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// [`axes!`](crate::axes) names the axes. An axis that is named twice does not compile.
    ///
    /// # Accuracy
    ///
    /// The [errors](super#accuracy) of the axes add up.
    ///
    /// # On a GPU
    ///
    /// One reduction for each axis: the [module](super#on-a-gpu) has the steps.
    #[inline_on_device]
    pub fn sum_over<X: AxisList<S, L>>(self, _axes: X) -> Over<T, S, L, X>
    where
        T: Number,
    {
        const { Self::assert_axes(X::AXES) };
        rounded((), X::total(self, T::to_accumulator, Number::add))
    }

    /// Products along several axes, each of which stays with size 1: see [`sum_over`](Self::sum_over).
    ///
    /// Integers wrap. `f16` and `bf16` are multiplied in `f32`, and rounded once after the last axis.
    #[inline_on_device]
    pub fn prod_over<X: AxisList<S, L>>(self, _axes: X) -> Over<T, S, L, X>
    where
        T: Number,
    {
        const { Self::assert_axes(X::AXES) };
        rounded((), X::total(self, T::to_accumulator, Number::mul))
    }

    /// The largest elements along several axes, each of which stays with size 1; NaN only where all are.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.arange(shape![2, 4, 2], 0i32, 1);
    ///     let (most, least) = (t.max_over(axes![0, 2]), t.min_over(axes![0, 2]));
    ///     assert_eq!((most.at([0, 1, 0]), least.at([0, 1, 0])), (11, 2));
    ///     let large = t.ge(8);
    ///     assert!(large.any_over(axes![0, 1]).at([0, 0, 0]) && !large.all_over(axes![0, 1]).at([0, 0, 0]));
    /// });
    /// ```
    #[inline_on_device]
    pub fn max_over<X: AxisList<S, L>>(self, _axes: X) -> Over<T, S, L, X>
    where
        T: Comparable,
    {
        const { Self::assert_axes(X::AXES) };
        X::fold(self, SuppressNan::maximum)
    }

    /// The smallest elements along several axes, each of which stays with size 1: see [`max_over`](Self::max_over).
    #[inline_on_device]
    pub fn min_over<X: AxisList<S, L>>(self, _axes: X) -> Over<T, S, L, X>
    where
        T: Comparable,
    {
        const { Self::assert_axes(X::AXES) };
        X::fold(self, SuppressNan::minimum)
    }
}

impl<T: Element, S: Shape, L: Layout> Tile<T, S, L> {
    /// Combines the elements along several axes, each of which stays with size 1, by `combine`.
    ///
    /// `combine` must be associative and commutative.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let t = cx.iota::<i32>(shape![2, 2, 8]) - 20;
    ///     let farthest = t.reduce_over(axes![1, 2], |a, b| if a.abs() > b.abs() { a } else { b });
    ///     assert_eq!((farthest.at([0, 0, 0]), farthest.at([1, 0, 0])), (-20, 11));
    /// });
    /// ```
    #[inline_on_device]
    pub fn reduce_over<X: AxisList<S, L>>(
        self,
        _axes: X,
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Over<T, S, L, X> {
        const { Self::assert_axes(X::AXES) };
        X::fold(self, combine)
    }
}

impl<S: Shape, L: Layout> Tile<bool, S, L> {
    /// Whether any element along several axes is true.
    ///
    /// [`max_over`](Self::max_over) has an example.
    #[inline_on_device]
    pub fn any_over<X: AxisList<S, L>>(self, _axes: X) -> Over<bool, S, L, X> {
        const { Self::assert_axes(X::AXES) };
        X::fold(self, Logical::or)
    }

    /// Whether all elements along several axes are true.
    ///
    /// [`max_over`](Self::max_over) has an example.
    #[inline_on_device]
    pub fn all_over<X: AxisList<S, L>>(self, _axes: X) -> Over<bool, S, L, X> {
        const { Self::assert_axes(X::AXES) };
        X::fold(self, Logical::and)
    }
}
