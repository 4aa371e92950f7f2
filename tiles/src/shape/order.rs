//! Axes in another order.

use super::{D, Dimension, MAXIMUM_RANK, Shape};
use crate::sealed::{Sealed, sealed};

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
pub trait AxisOrder<S: Shape>: Sealed {
    /// The shape in the new order.
    type Permuted: Shape;
    /// Which axis of the tile each new axis is.
    const AXES: [usize; MAXIMUM_RANK];
}

/// The axes as they are: `order='C'` of cuTile.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderC;

/// The axes reversed: `order='F'` of cuTile.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderF;

/// Whether the first `rank` numbers are 0 to `rank - 1` in any order.
pub(crate) const fn is_permutation(axes: [usize; MAXIMUM_RANK], rank: usize) -> bool {
    let (mut seen, mut k) = (0, 0);
    while k < rank {
        seen |= 1 << axes[k];
        k += 1;
    }
    seen == (1 << rank) - 1
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
    ($($shape:ty: [$($name:ident)*] [$($axis:ident)*] [$($rest:literal)*];)*) => { $(
        impl<$($name: Dimension,)* $(const $axis: usize),*> AxisOrder<$shape> for ($(D<$axis>,)*)
        where
            $($shape: AxisDimension<$axis>,)*
        {
            type Permuted = ($(<$shape as AxisDimension<$axis>>::Dimension,)*);
            const AXES: [usize; MAXIMUM_RANK] = [$($axis,)* $($rest),*];
        }
    )* };
}
orders! {
    (): [] [] [0 1 2 3];
    (A0,): [A0] [I] [1 2 3];
    (A0, A1): [A0 A1] [I J] [2 3];
    (A0, A1, A2): [A0 A1 A2] [I J K] [3];
    (A0, A1, A2, A3): [A0 A1 A2 A3] [I J K M] [];
}

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

sealed! {
    [] OrderC;
    [] OrderF;
    [const A: usize, const B: usize] Swap<A, B>;
}
