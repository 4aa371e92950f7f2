//! Indices of gathered tiles: a tile of integers for one axis, an element offset for each of the others.

use crate::element::{Cast, Element, Integer};
use crate::layout::{Block, Blocked, Layout, Slice};
use crate::sealed::Sealed;
use crate::shape::{Axis, D, Dimension, MAXIMUM_RANK, Shape};
use crate::tile::{Spread, Tile};
use crate::view::IndexNumber;

/// Where a gathered tile of shape `S` lies: a tuple with a number for each axis, of which one is a tile.
///
/// The tile has one dimension, as long as the axis of `S` at its place, of any integer type: its elements say where each
/// slice along that axis lies. The other numbers are the *element* offsets at which the gathered tile begins; they may be
/// negative, or reach over the tensor's end.
#[diagnostic::on_unimplemented(
    message = "this is not an index of gathered tiles of shape `{S}`",
    label = "expected one tile of integers and an element offset for each other axis",
    note = "for rows of 1024 elements, 4 at a time: `(rows, 0)`, with `rows` a tile of integers of shape `Shape1<4>`"
)]
pub trait GatherIndex<S: Shape, B: Block>: Sealed + Copy {
    /// The axis whose place is a tile's.
    const AXIS: usize;
    /// Whether an offset may be negative.
    const SIGNED: bool;
    /// The type of the tile's elements.
    type Integer: Integer + Cast<u64>;
    /// What each thread keeps of the tile: the elements for its own slices.
    type Kept: Rows<Self::Integer>;
    /// The elements as the threads want them, and the offsets; 0 for the tile's axis.
    #[doc(hidden)]
    fn prepare(self) -> (Self::Kept, [i64; MAXIMUM_RANK]);
}

/// Positions along the gathered axis, by register of the gathered tile.
pub trait Rows<I> {
    /// The position of register `i`'s slice.
    #[doc(hidden)]
    fn get(&self, i: usize) -> I;
}

impl<I: Element, R: Shape, K: Layout, S: Shape, L: Layout> Rows<I> for Spread<I, R, K, S, L> {
    #[inline_on_device]
    fn get(&self, i: usize) -> I {
        self.get(i)
    }
}

/// The layout that is left of `L` for tiles of shape `S` when axis `A` is reduced away.
type Without<S, L, const A: usize> = Slice<L, S, A>;
/// The shape that is left.
type Reduced<S, const A: usize> = <S as Axis<A>>::Reduced;

/// `axis: dimensions before, names of their offsets; after; the layout when all other axes are reduced away`.
///
/// In that layout every thread holds the elements for its own slices, each once, and no trip through shared memory
/// serves more than one element of the index tile.
macro_rules! gather_indices {
    ($($axis:literal: [$($before:ident $i:ident)*] [$($after:ident $j:ident)*], $kept:ty;)*) => { $(
        impl<T, L, N, B, $($before, $i,)* $($after, $j),*> GatherIndex<($($before,)* N, $($after,)*), B>
            for ($($i,)* Tile<T, (N,), L>, $($j,)*)
        where
            T: Integer + Cast<u64>,
            L: Layout<Block = B>,
            N: Dimension,
            B: Block,
            $($before: Dimension, $i: IndexNumber,)*
            $($after: Dimension, $j: IndexNumber,)*
        {
            const AXIS: usize = $axis;
            const SIGNED: bool = false $(| $i::SIGNED)* $(| $j::SIGNED)*;
            type Integer = T;
            type Kept = Spread<T, ($(gather_indices!(@one $before),)* N, $(gather_indices!(@one $after),)*), $kept, ($($before,)* N, $($after,)*), Blocked<B>>;
            #[inline_on_device]
            #[allow(non_snake_case, reason = "a number goes by the name of its type")]
            fn prepare(self) -> (Self::Kept, [i64; MAXIMUM_RANK]) {
                let ($($i,)* rows, $($j,)*) = self;
                let rows = rows.reshape(<($(gather_indices!(@one $before),)* N, $(gather_indices!(@one $after),)*)>::default());
                let given = [$($i.signed(),)* 0, $($j.signed(),)*];
                let mut offsets = [0; MAXIMUM_RANK];
                offsets[..given.len()].copy_from_slice(&given);
                (Spread::new(rows.spread::<_, $kept>()), offsets)
            }
        }
    )* };
    (@one $dimension:ident) => { D<1> };
}
gather_indices! {
    0: [] [A1 J1], Without<(N, A1), Blocked<B>, 1>;
    1: [A0 I0] [], Without<(A0, N), Blocked<B>, 0>;
    0: [] [A1 J1 A2 J2], Without<Reduced<(N, A1, A2), 2>, Without<(N, A1, A2), Blocked<B>, 2>, 1>;
    1: [A0 I0] [A2 J2], Without<Reduced<(A0, N, A2), 2>, Without<(A0, N, A2), Blocked<B>, 2>, 0>;
    2: [A0 I0 A1 I1] [], Without<Reduced<(A0, A1, N), 1>, Without<(A0, A1, N), Blocked<B>, 1>, 0>;
    0: [] [A1 J1 A2 J2 A3 J3], Without<Reduced<Reduced<(N, A1, A2, A3), 3>, 2>, Without<Reduced<(N, A1, A2, A3), 3>, Without<(N, A1, A2, A3), Blocked<B>, 3>, 2>, 1>;
    1: [A0 I0] [A2 J2 A3 J3], Without<Reduced<Reduced<(A0, N, A2, A3), 3>, 2>, Without<Reduced<(A0, N, A2, A3), 3>, Without<(A0, N, A2, A3), Blocked<B>, 3>, 2>, 0>;
    2: [A0 I0 A1 I1] [A3 J3], Without<Reduced<Reduced<(A0, A1, N, A3), 3>, 1>, Without<Reduced<(A0, A1, N, A3), 3>, Without<(A0, A1, N, A3), Blocked<B>, 3>, 1>, 0>;
    3: [A0 I0 A1 I1 A2 I2] [], Without<Reduced<Reduced<(A0, A1, A2, N), 2>, 1>, Without<Reduced<(A0, A1, A2, N), 2>, Without<(A0, A1, A2, N), Blocked<B>, 2>, 1>, 0>;
}
