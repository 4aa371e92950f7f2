//! Axes in another order.

use super::{D, Dimension, MAXIMUM_RANK, Rank, Shape};
use crate::span::{OrderC, OrderF};

/// The dimension of a shape along axis `A`, as a type.
#[diagnostic::on_unimplemented(
    message = "tile shape `{Self}` has no axis {A}",
    label = "no such axis",
    note = "axes count from 0 and must be below the rank of the tile"
)]
pub trait AxisDimension<const A: usize>: Shape {
    /// The dimension.
    type Dimension: Dimension;
    /// The shape with `N` in its place.
    type With<N: Dimension>: Shape;
}

/// An order of the axes of a tile of shape `S`: `axes![1, 0]`, [`OrderC`] or [`OrderF`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order of the axes of a tile of shape `{S}`",
    label = "not a permutation of the tile's axes",
    note = "`axes![1, 0]` names each axis of the tile once; OrderC leaves them as they are, OrderF reverses them"
)]
pub trait AxisOrder<S: Shape> {
    /// The shape in the new order.
    type Permuted: Shape;
    /// Which axis of the tile each new axis is.
    const AXES: [usize; MAXIMUM_RANK];
}

/// Stops the compiler unless the first `rank` numbers are 0 to `rank - 1` in any order.
const fn distinct(axes: [usize; MAXIMUM_RANK], rank: usize) -> [usize; MAXIMUM_RANK] {
    let (mut seen, mut k) = (0, 0);
    while k < rank {
        assert!(seen >> axes[k] & 1 == 0, "permute: the order must name each axis of the tile once");
        seen |= 1 << axes[k];
        k += 1;
    }
    axes
}

/// `axis: dimensions before, the axis itself, dimensions after`.
macro_rules! dimensions {
    ($($axis:literal: $($before:ident)*, $own:ident, $($after:ident)*;)*) => { $(
        impl<$($before: Dimension,)* $own: Dimension, $($after: Dimension,)*> AxisDimension<$axis>
            for ($($before,)* $own, $($after,)*)
        {
            type Dimension = $own;
            type With<N: Dimension> = ($($before,)* N, $($after,)*);
        }
    )* };
}
dimensions! {
    0: , A0, ;
    0: , A0, A1; 1: A0, A1, ;
    0: , A0, A1 A2; 1: A0, A1, A2; 2: A0 A1, A2, ;
    0: , A0, A1 A2 A3; 1: A0, A1, A2 A3; 2: A0 A1, A2, A3; 3: A0 A1 A2, A3, ;
}

/// `axes![...]` of each rank.
macro_rules! orders {
    ($($rank:literal: $($axis:ident)*, $($rest:literal)*;)*) => { $(
        impl<S: Shape<Rank = Rank<$rank>> $(+ AxisDimension<$axis>)*, $(const $axis: usize),*> AxisOrder<S> for ($(D<$axis>,)*) {
            type Permuted = ($(<S as AxisDimension<$axis>>::Dimension,)*);
            const AXES: [usize; MAXIMUM_RANK] = distinct([$($axis,)* $($rest),*], $rank);
        }
    )* };
}
orders! { 0: , 0 1 2 3; 1: I, 1 2 3; 2: I J, 2 3; 3: I J K, 3; 4: I J K M, ; }

impl<S: Shape> AxisOrder<S> for OrderC {
    type Permuted = S;
    const AXES: [usize; MAXIMUM_RANK] = [0, 1, 2, 3];
}

macro_rules! reversed {
    ($([$($name:ident)*] [$($reversed:ident)*] [$($axis:literal)*];)*) => { $(
        impl<$($name: Dimension),*> AxisOrder<($($name,)*)> for OrderF {
            type Permuted = ($($reversed,)*);
            const AXES: [usize; MAXIMUM_RANK] = [$($axis),*];
        }
    )* };
}
reversed! {
    [] [] [0 1 2 3];
    [A0] [A0] [0 1 2 3];
    [A0 A1] [A1 A0] [1 0 2 3];
    [A0 A1 A2] [A2 A1 A0] [2 1 0 3];
    [A0 A1 A2 A3] [A3 A2 A1 A0] [3 2 1 0];
}

/// A shape with axes `A` and `B`, which change places.
#[diagnostic::on_unimplemented(
    message = "tile shape `{Self}` has no axes {A} and {B} to swap",
    label = "no such axes",
    note = "axes count from 0 and must be below the rank of the tile"
)]
pub trait Transpose<const A: usize, const B: usize>: Shape {
    /// The shape with both dimensions swapped.
    type Transposed: Shape;
}

impl<S, const A: usize, const B: usize> Transpose<A, B> for S
where
    S: AxisDimension<A> + AxisDimension<B>,
    <S as AxisDimension<A>>::With<<S as AxisDimension<B>>::Dimension>: AxisDimension<B>,
{
    type Transposed = <<S as AxisDimension<A>>::With<<S as AxisDimension<B>>::Dimension> as AxisDimension<
        B,
    >>::With<<S as AxisDimension<A>>::Dimension>;
}

/// The order of the axes that swaps `A` and `B`.
pub struct Swap<const A: usize, const B: usize>;

impl<S: Transpose<A, B>, const A: usize, const B: usize> AxisOrder<S> for Swap<A, B> {
    type Permuted = S::Transposed;
    const AXES: [usize; MAXIMUM_RANK] = {
        let mut axes = [0, 1, 2, 3];
        (axes[A], axes[B]) = (B, A);
        axes
    };
}
