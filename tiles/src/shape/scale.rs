//! Shapes whose dimensions are computed: an axis that grows or shrinks by a power of two.

use super::{Axis, BroadcastDimension, D, Dimension, Shape};
use crate::element::Repack;
use crate::registers::{PowerOfTwo, Product, Quotient};
use crate::sealed::sealed;
use core::marker::PhantomData;

/// A dimension of any power of two, for shapes that no user sees: what [`D`] is for the sizes that have names.
#[doc(hidden)]
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Power<N>(PhantomData<N>);

impl<N: PowerOfTwo> Dimension for Power<N> {
    type Count = N;
}
impl<N: PowerOfTwo> BroadcastDimension<Power<N>> for Power<N> {
    type Output = Power<N>;
}
impl<N: PowerOfTwo> BroadcastDimension<D<1>> for Power<N> {
    type Output = Power<N>;
}

/// A number that is a dimension of tiles.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "the new dimension is longer than 16777216",
    label = "a tile dimension is at most 16777216"
)]
pub trait DimensionSize: PowerOfTwo {
    /// The dimension.
    type Dimension: Dimension;
}

macro_rules! sizes {
    ($($name:ident $size:literal)*) => { $(
        impl DimensionSize for typenum::$name {
            type Dimension = D<$size>;
        }
    )* };
}
sizes!(U1 1 U2 2 U4 4 U8 8 U16 16 U32 32 U64 64 U128 128 U256 256 U512 512 U1024 1024 U2048 2048 U4096 4096 U8192 8192 U16384 16384 U32768 32768 U65536 65536 U131072 131072 U262144 262144 U524288 524288 U1048576 1048576 U2097152 2097152 U4194304 4194304 U8388608 8388608 U16777216 16777216);

/// A shape of elements `T` whose axis `A` can hold the same bits as elements `U`.
#[diagnostic::on_unimplemented(
    message = "axis {A} of a tile of `{T}` and shape `{Self}` cannot be repacked as `{U}`",
    label = "no such axis, or too long",
    note = "axes count from 0 and must be below the rank of the tile; a dimension is at most 16777216"
)]
pub trait ScaleAxis<const A: usize, T: Repack, U: Repack>: Axis<A> {
    /// The shape with the axis of that length.
    type Scaled: Shape;
}

/// How many elements `U` have the bits of the elements `T` along dimension `X`.
type Count<X, T, U> = Quotient<Product<<X as Dimension>::Count, <T as Repack>::Width>, <U as Repack>::Width>;

macro_rules! scales {
    ($($axis:literal: $($before:ident)*, $own:ident, $($after:ident)*;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<T: Repack, U: Repack, $($before: Dimension,)* $own: Dimension, $($after: Dimension,)*>
            ScaleAxis<$axis, T, U> for ($($before,)* $own, $($after,)*)
        where
            Count<$own, T, U>: DimensionSize,
        {
            type Scaled = ($($before,)* <Count<$own, T, U> as DimensionSize>::Dimension, $($after,)*);
        }
    )* };
}
scales! {
    0: , A0, ;
    0: , A0, A1; 1: A0, A1, ;
    0: , A0, A1 A2; 1: A0, A1, A2; 2: A0 A1, A2, ;
    0: , A0, A1 A2 A3; 1: A0, A1, A2 A3; 2: A0 A1, A2, A3; 3: A0 A1 A2, A3, ;
}

sealed! { [N] Power<N>; }
