//! Tuples of two to four tiles of one shape, whose elements reduce, scan and sort together.

use super::reduce::reduce;
use super::scan::{Inclusive, ScanForm, scan};
use super::sort::{Ascending, SortOrder, coordinate, sort};
use super::warp_exchange::WarpExchange;
use crate::arch;
use crate::element::{Element, Ordered};
use crate::layout::{Blocked, Layout, Slice};
use crate::registers::Registers;
use crate::sealed::Sealed;
use crate::shape::{Axis, PADDED_AXIS, Shape, is_padded};
use crate::tile::Tile;

/// A tuple of two to four tiles of one shape, with any element types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of tiles of one shape",
    label = "expected 2 to 4 tiles of equal shapes",
    note = "bring tiles to one shape first: `.broadcast(shape![...])`"
)]
pub trait TileTuple: Sealed + Copy {
    /// The shape of all of them.
    type Shape: Shape;
    /// The layout of the first, in which all are combined.
    type Layout: Layout;
    /// The element type of the first.
    type Key: Element;
    /// One element of each.
    type Values: WarpExchange;
    /// Tiles of the same element types in another shape and layout.
    type Tiles<S: Shape, L: Layout>;

    #[doc(hidden)]
    fn to_registers<L: Layout>(self) -> Registers<Self::Values, L::Registers<Self::Shape>>;
    #[doc(hidden)]
    fn key(values: Self::Values) -> Self::Key;
    #[doc(hidden)]
    fn from_registers<S: Shape, L: Layout>(
        registers: Registers<Self::Values, L::Registers<S>>,
    ) -> Self::Tiles<S, L>;

    /// Combines the tuples of elements along axis `A` by `combine`; with [`ALL`](crate::shape::ALL), all tuples of the tiles.
    ///
    /// `combine` must be associative and commutative, and `identity` must change nothing.
    ///
    /// Mean and variance in one pass (T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm
    /// for computing sample variances", 1979):
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let x = cx.iota::<i32>(shape![2, 8]).cast::<f32>();
    ///     let start = (x, cx.zeros::<f32>(shape![2, 8]), cx.ones::<f32>(shape![2, 8]));
    ///     let (mean, squares, count) = start.reduce::<1>((0.0, 0.0, 0.0), |(m1, s1, n1), (m2, s2, n2)| {
    ///         let (n, d) = (n1 + n2, m2 - m1);
    ///         (m1 + d * (n2 / n), s1 + s2 + d * d * (n1 * n2 / n), n)
    ///     });
    ///     assert_eq!(mean.at([1, 0]), 11.5);
    ///     assert_eq!((squares / count).at([0, 0]), 5.25);
    /// });
    /// ```
    ///
    /// The largest element and its partner in another tile:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (i, weight) = (cx.iota::<u32>(shape![8]), cx.iota::<i32>(shape![8]) * 3 % 8);
    ///     let (most, at) = (weight, i).reduce::<0>((i32::MIN, u32::MAX), |a, b| {
    ///         if a.0 > b.0 || (a.0 == b.0 && a.1 < b.1) { a } else { b }
    ///     });
    ///     assert_eq!((most.at([0]), at.at([0])), (7, 5));
    /// });
    /// ```
    ///
    /// # Shapes
    ///
    /// The axis stays, with size 1. Over all axes the results have rank 0.
    ///
    /// # On a GPU
    ///
    /// The results have the layout [`Slice`]. The steps are those of [`Tile::reduce`], with a word for each element of the tuple.
    #[inline_on_device]
    fn reduce<const A: usize>(
        self,
        identity: Self::Values,
        combine: impl Fn(Self::Values, Self::Values) -> Self::Values + Send + Sync + 'static,
    ) -> Self::Tiles<<Self::Shape as Axis<A>>::Reduced, Slice<Self::Layout, Self::Shape, A>>
    where
        Self::Shape: Axis<A>,
    {
        const { assert!(!is_padded::<Self::Shape>(A), "{}", PADDED_AXIS) };
        let values = self.to_registers::<Self::Layout>();
        Self::from_registers(reduce::<Self::Values, Self::Shape, Self::Layout, A>(
            |i| values.get(i),
            |first| combine(identity, first),
            &combine,
        ))
    }

    /// Combines each tuple of elements along axis `A` with all tuples before it, by an associative `combine(before, element)`.
    ///
    /// A linear recurrence, `y[k] = a[k] y[k - 1] + b[k]`:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (a, b) = (cx.full(shape![8], 2i32), cx.iota::<i32>(shape![8]));
    ///     let (_, y) = (a, b).scan::<0>((1, 0), |(a1, b1), (a2, b2)| (a1 * a2, a2 * b1 + b2));
    ///     assert_eq!(y.at([3]), 2 * (2 * 1 + 2) + 3);
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The results have the layout [`Blocked`]. The steps are those of [`Tile::scan`].
    #[inline_on_device]
    fn scan<const A: usize>(
        self,
        identity: Self::Values,
        combine: impl Fn(Self::Values, Self::Values) -> Self::Values + Send + Sync + 'static,
    ) -> Self::Tiles<Self::Shape, Blocked<<Self::Layout as Layout>::Block>>
    where
        Self::Shape: Axis<A>,
    {
        const { assert!(!is_padded::<Self::Shape>(A), "{}", PADDED_AXIS) };
        self.scan_with::<A>(identity, combine, Inclusive)
    }

    /// A [`scan`](Self::scan) in a form such as [`Exclusive`](super::scan::Exclusive) or [`Backward`](super::scan::Backward).
    #[inline_on_device]
    fn scan_with<const A: usize>(
        self,
        identity: Self::Values,
        combine: impl Fn(Self::Values, Self::Values) -> Self::Values + Send + Sync + 'static,
        form: impl ScanForm,
    ) -> Self::Tiles<Self::Shape, Blocked<<Self::Layout as Layout>::Block>>
    where
        Self::Shape: Axis<A>,
    {
        const { assert!(!is_padded::<Self::Shape>(A), "{}", PADDED_AXIS) };
        scanned::<Self, A, _>(self, identity, combine, form)
    }

    /// The tuples of elements sorted along axis `A` by their first element, the smallest first.
    ///
    /// [`Ordered`] has the order. Tuples with equal first elements keep their order.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// cuda_tiles::cpu::block(|cx| {
    ///     let (age, name) = (cx.iota::<u8>(shape![4]) ^ 3, cx.iota::<u64>(shape![4]) + 100);
    ///     let (age, name) = (age, name).sort_by_key::<0>();
    ///     assert_eq!((age.at([0]), name.at([0])), (0, 103));
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The results have the layout [`Blocked`]. The rounds are those of [`Tile::sort`], and exchange all elements of a tuple.
    #[inline_on_device]
    fn sort_by_key<const A: usize>(self) -> Self::Tiles<Self::Shape, Blocked<<Self::Layout as Layout>::Block>>
    where
        Self::Shape: Axis<A>,
        Self::Key: Ordered,
    {
        const { assert!(!is_padded::<Self::Shape>(A), "{}", PADDED_AXIS) };
        self.sort_by_key_with::<A>(Ascending)
    }

    /// The tuples of elements sorted along axis `A` by their first element, [`Ascending`] or [`Descending`](super::sort::Descending).
    ///
    /// [`sort_by_key`](Self::sort_by_key) has an example.
    #[inline_on_device]
    fn sort_by_key_with<const A: usize>(
        self,
        order: impl SortOrder,
    ) -> Self::Tiles<Self::Shape, Blocked<<Self::Layout as Layout>::Block>>
    where
        Self::Shape: Axis<A>,
        Self::Key: Ordered,
    {
        const { assert!(!is_padded::<Self::Shape>(A), "{}", PADDED_AXIS) };
        sorted_by_key::<Self, A, _>(self, order)
    }
}

/// The threads that hold the tiles.
type BlockOf<X> = <<X as TileTuple>::Layout as Layout>::Block;

#[inline_on_device]
fn scanned<X: TileTuple, const A: usize, F: ScanForm>(
    tiles: X,
    identity: X::Values,
    combine: impl Fn(X::Values, X::Values) -> X::Values,
    _form: F,
) -> X::Tiles<X::Shape, Blocked<BlockOf<X>>>
where
    X::Shape: Axis<A>,
{
    let values = tiles.to_registers::<Blocked<BlockOf<X>>>();
    X::from_registers(scan::<X::Values, X::Shape, BlockOf<X>, F, A>(values, identity, combine))
}

#[inline_on_device]
fn sorted_by_key<X: TileTuple, const A: usize, O: SortOrder>(
    tiles: X,
    _order: O,
) -> X::Tiles<X::Shape, Blocked<BlockOf<X>>>
where
    X::Shape: Axis<A>,
    X::Key: Ordered,
{
    let values = tiles.to_registers::<Blocked<BlockOf<X>>>();
    let thread = arch::execution::thread();
    let located =
        Registers::from_fn(|i| (values.get(i), coordinate::<X::Shape, Blocked<BlockOf<X>>, A>(thread, i)));
    let key = |(values, position): (X::Values, u32)| (O::key(X::key(values)), position);
    let sorted = sort::<(X::Values, u32), X::Shape, BlockOf<X>, A>(located, |a, b| key(a) < key(b));
    X::from_registers(Registers::from_fn(|i| sorted.get(i).0))
}

macro_rules! tuples {
    ($($first:ident $first_layout:ident $(, $element:ident $layout:ident $number:tt)*;)*) => { $(
        impl<S, $first, $first_layout $(, $element, $layout)*> TileTuple
            for (Tile<$first, S, $first_layout>, $(Tile<$element, S, $layout>,)*)
        where
            S: Shape,
            $first: Element,
            $first_layout: Layout,
            $($element: Element, $layout: Layout<Block = $first_layout::Block>,)*
        {
            type Shape = S;
            type Layout = $first_layout;
            type Key = $first;
            type Values = ($first, $($element,)*);
            type Tiles<R: Shape, X: Layout> = (Tile<$first, R, X>, $(Tile<$element, R, X>,)*);
            #[inline_on_device]
            fn to_registers<X: Layout>(self) -> Registers<Self::Values, X::Registers<S>> {
                let tiles = (self.0.spread::<S, X>(), $(self.$number.spread::<S, X>(),)*);
                Registers::from_fn(|i| (tiles.0.registers().get(i), $(tiles.$number.registers().get(i),)*))
            }
            #[inline_on_device]
            fn key(values: Self::Values) -> $first {
                values.0
            }
            #[inline_on_device]
            fn from_registers<R: Shape, X: Layout>(
                registers: Registers<Self::Values, X::Registers<R>>,
            ) -> Self::Tiles<R, X> {
                (
                    Tile::from_registers_fn(|i| registers.get(i).0),
                    $(Tile::from_registers_fn(|i| registers.get(i).$number),)*
                )
            }
        }
    )* };
}
tuples! {
    T L, U M 1;
    T L, U M 1, V N 2;
    T L, U M 1, V N 2, W O 3;
}
