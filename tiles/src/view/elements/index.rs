//! Indices of single elements: an integer tile or a number for each axis, broadcast together.

use crate::element::{Cast, Element, Integer};
use crate::layout::{Join, Layout};
use crate::ops::operand::{Fetch, Uniform};
use crate::sealed::{Sealed, sealed};
use crate::shape::{Broadcast, MAXIMUM_RANK, Rank, Shape};
use crate::tile::{Spread, Tile};
use crate::view::IndexNumber;
use core::marker::PhantomData;

/// The contribution of a tile to the common shape of an index: its own shape.
pub struct TileEntry<S, L>(PhantomData<(S, L)>);

/// The contribution of a number to the common shape of an index: none, as it fits every shape.
pub struct NumberEntry;

/// The common shape of two entries.
#[diagnostic::on_unimplemented(
    message = "the index tiles of a gather, scatter or atomic operation must broadcast together",
    label = "index tiles of shapes that do not go together, or of two blocks"
)]
pub trait Meet<Other> {
    /// The contribution of both.
    type Output;
}

impl<K> Meet<K> for NumberEntry {
    type Output = K;
}
impl<S, L> Meet<NumberEntry> for TileEntry<S, L> {
    type Output = Self;
}
impl<S: Broadcast<R>, L: Join<M>, R: Sealed, M: Sealed> Meet<TileEntry<R, M>> for TileEntry<S, L> {
    type Output = TileEntry<S::Output, L::Output>;
}

/// The shape that the tiles of an index have in common.
#[diagnostic::on_unimplemented(
    message = "an index of elements needs a tile in at least one place",
    label = "numbers alone name one element, but of no block's tile",
    note = "make one of the numbers a tile of rank 0: `cx.scalar(i)`"
)]
pub trait IndexShape: Sealed {
    /// The shape.
    type Shape: Shape;
    /// The layout.
    type Layout: Layout;
}

impl<S: Shape, L: Layout> IndexShape for TileEntry<S, L> {
    type Shape = S;
    type Layout = L;
}

/// One entry of an index of elements: a tile of integers of any type, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index along an axis",
    label = "expected a tile of integers, or a number",
    note = "numbers are u32, i32, u64, usize or a block index; convert tiles of floats or bool with `.cast::<i32>()`"
)]
pub trait IndexEntry: Sealed + Copy {
    /// Its contribution to the common shape.
    type Kind;
    /// The entry as the common shape sees it.
    type Prepared<S: Shape, L: Layout>: Fetch<u64>;
    /// Brings the entry to the common shape, through shared memory if need be.
    #[doc(hidden)]
    fn prepare<S: Shape, L: Layout>(self) -> Self::Prepared<S, L>;
}

/// A tile of integers, widened: negative ones become so large that they are outside every tensor.
pub struct Widened<P, I>(P, PhantomData<I>);

impl<I: Cast<u64>, P: Fetch<I>> Fetch<u64> for Widened<P, I> {
    #[inline_on_device]
    fn get(&self, i: usize) -> u64 {
        self.0.get(i).cast()
    }
}

impl<I: Integer + Cast<u64>, R: Shape, M: Layout> IndexEntry for Tile<I, R, M> {
    type Kind = TileEntry<R, M>;
    type Prepared<S: Shape, L: Layout> = Widened<Spread<I, R, M, S, L>, I>;
    #[inline_on_device]
    fn prepare<S: Shape, L: Layout>(self) -> Self::Prepared<S, L> {
        Widened(Spread::new(self), PhantomData)
    }
}

impl<N: IndexNumber> IndexEntry for N {
    type Kind = NumberEntry;
    type Prepared<S: Shape, L: Layout> = Uniform<u64>;
    #[inline_on_device]
    fn prepare<S: Shape, L: Layout>(self) -> Uniform<u64> {
        Uniform::new(self.get())
    }
}

/// The indices of elements of a tensor of rank `R`: a tuple with an [`IndexEntry`] for each axis, or a bare tile for
/// rank 1.
///
/// The tiles broadcast together by NumPy's rules; their common shape is that of the result. The element of the result at
/// `(a, b)` is the tensor's at `(i[a, b], j[a, b])`. Negative indices are outside the tensor.
/// A tensor of rank 0 has one element and no axis to index: `partition(cx, shape![]).load(())` has it.
#[diagnostic::on_unimplemented(
    message = "an index of elements needs one entry for each axis of the tensor",
    label = "this is not an index of elements of a tensor of this rank",
    note = "entries are tiles of integers that broadcast together, and numbers, at least one of them a tile: `(i, j)` for \
            rank 2, `i` or `(i,)` for rank 1"
)]
pub trait ElementIndex<R: Sealed>: Sealed + Copy {
    /// The common shape of the tiles.
    type Shape: Shape;
    /// Their common layout.
    type Layout: Layout;
    /// The entries as that shape sees them.
    type Prepared: Positions;
    /// Brings the entries to the common shape.
    #[doc(hidden)]
    fn prepare(self) -> Self::Prepared;
}

/// Positions along each axis, by register of the common shape.
pub trait Positions {
    /// Those of register `i`; 0 beyond the rank.
    #[doc(hidden)]
    fn get(&self, i: usize) -> [u64; MAXIMUM_RANK];
}

/// One position for all registers.
impl Positions for [u64; MAXIMUM_RANK] {
    #[inline_on_device]
    fn get(&self, _i: usize) -> [u64; MAXIMUM_RANK] {
        *self
    }
}

impl<I: Element, S: Shape, L: Layout> ElementIndex<Rank<1>> for Tile<I, S, L>
where
    (Self,): ElementIndex<Rank<1>>,
{
    type Shape = <(Self,) as ElementIndex<Rank<1>>>::Shape;
    type Layout = <(Self,) as ElementIndex<Rank<1>>>::Layout;
    type Prepared = <(Self,) as ElementIndex<Rank<1>>>::Prepared;
    #[inline_on_device]
    fn prepare(self) -> Self::Prepared {
        (self,).prepare()
    }
}

/// `rank: names of the entries; their kinds together; the bounds on the kinds; zeros`.
macro_rules! element_indices {
    ($($rank:literal: [$($name:ident)*] $kind:ty, { $($bounds:tt)* }, [$($zero:literal)*];)*) => { $(
        impl<$($name: IndexEntry),*> ElementIndex<Rank<$rank>> for ($($name,)*)
        where
            $($bounds)*
        {
            type Shape = <$kind as IndexShape>::Shape;
            type Layout = <$kind as IndexShape>::Layout;
            type Prepared = ($($name::Prepared<Self::Shape, Self::Layout>,)*);
            #[inline_on_device]
            #[allow(non_snake_case, reason = "an entry goes by the name of its type")]
            fn prepare(self) -> Self::Prepared {
                let ($($name,)*) = self;
                ($($name.prepare(),)*)
            }
        }
        impl<$($name: Fetch<u64>),*> Positions for ($($name,)*) {
            #[inline_on_device]
            #[allow(non_snake_case, reason = "an entry goes by the name of its type")]
            fn get(&self, i: usize) -> [u64; MAXIMUM_RANK] {
                let ($($name,)*) = self;
                [$($name.get(i),)* $($zero),*]
            }
        }
    )* };
}
type Both<A, B> = <A as Meet<B>>::Output;
element_indices! {
    1: [A] A::Kind, { A::Kind: IndexShape, }, [0 0 0];
    2: [A B] Both<A::Kind, B::Kind>, { A::Kind: Meet<B::Kind, Output: IndexShape>, }, [0 0];
    3: [A B C] Both<Both<A::Kind, B::Kind>, C::Kind>,
        { A::Kind: Meet<B::Kind, Output: Meet<C::Kind, Output: IndexShape>>, }, [0];
    4: [A B C F] Both<Both<Both<A::Kind, B::Kind>, C::Kind>, F::Kind>,
        { A::Kind: Meet<B::Kind, Output: Meet<C::Kind, Output: Meet<F::Kind, Output: IndexShape>>>, }, [];
}

sealed! { [S, L] TileEntry<S, L>; }
