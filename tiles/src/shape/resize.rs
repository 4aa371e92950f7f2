//! Shapes with one axis longer, shorter, or gone.

use super::{AxisDimension, D, Dimension, Shape};
use crate::registers::{PowerOfTwo, Product};
use typenum::consts::*;

/// A number of elements that a dimension can have.
#[diagnostic::on_unimplemented(
    message = "a dimension of the result has more than 16777216 elements, or is not known to be a dimension",
    label = "the result has a dimension beyond the limit, or a length that depends on a parameter",
    note = "tile dimensions are powers of two up to 16777216",
    note = "a function that is generic over a length states what it does with it: `where Shape1<N>: Lengthen<0, 2>` for `cat::<0>`"
)]
pub trait DimensionCount: PowerOfTwo {
    /// The dimension of this many elements.
    type Dimension: Dimension<Count = Self>;
}

macro_rules! counts {
    ($($count:ident $size:literal)*) => { $(
        impl DimensionCount for $count {
            type Dimension = D<$size>;
        }
    )* };
}
counts! {
    U1 1 U2 2 U4 4 U8 8 U16 16 U32 32 U64 64 U128 128 U256 256 U512 512 U1024 1024 U2048 2048 U4096 4096 U8192 8192
    U16384 16384 U32768 32768 U65536 65536 U131072 131072 U262144 262144 U524288 524288 U1048576 1048576
    U2097152 2097152 U4194304 4194304 U8388608 8388608 U16777216 16777216
}

/// A shape whose axis `A` can become `N` times as long.
#[diagnostic::on_unimplemented(
    message = "axis {A} of a tile of shape `{Self}` cannot become {N} times as long",
    label = "no such axis, no power of two, or too long"
)]
pub trait Lengthen<const A: usize, const N: usize>: Shape {
    /// The longer shape.
    type Longer: Shape;
}

impl<S, const A: usize, const N: usize> Lengthen<A, N> for S
where
    S: AxisDimension<A>,
    D<N>: Dimension,
    Product<<S::Dimension as Dimension>::Count, <D<N> as Dimension>::Count>: DimensionCount,
{
    type Longer = S::With<
        <Product<<S::Dimension as Dimension>::Count, <D<N> as Dimension>::Count> as DimensionCount>::Dimension,
    >;
}

/// A shape whose axis `A` can be halved.
#[diagnostic::on_unimplemented(
    message = "axis {A} of a tile of shape `{Self}` cannot be halved",
    label = "no such axis"
)]
pub trait Halve<const A: usize>: Shape {
    /// The shape of either half.
    type Half: Shape;
}

impl<S, const A: usize> Halve<A> for S
where
    S: AxisDimension<A>,
    <<S::Dimension as Dimension>::Count as PowerOfTwo>::Half: DimensionCount,
{
    type Half =
        S::With<<<<S::Dimension as Dimension>::Count as PowerOfTwo>::Half as DimensionCount>::Dimension>;
}

/// A shape whose elements fit one dimension.
#[diagnostic::on_unimplemented(message = "a tile of shape `{Self}` cannot be flattened", label = "too long")]
pub trait Flatten: Shape {
    /// The shape of rank 1.
    type Flat: Shape;
}

impl<S: Shape<Count: DimensionCount>> Flatten for S {
    type Flat = (<S::Count as DimensionCount>::Dimension,);
}

/// A shape whose axis `A` has size 1 and can be left out.
#[diagnostic::on_unimplemented(
    message = "axis {A} of a tile of shape `{Self}` cannot be squeezed out",
    label = "no such axis, or not of size 1",
    note = "`squeeze` leaves out an axis of size 1, such as a reduction leaves"
)]
pub trait Squeeze<const A: usize>: Shape {
    /// The shape without the axis.
    type Squeezed: Shape;
}

/// `axis: dimensions before, dimensions after`.
macro_rules! squeezes {
    ($($axis:literal: $($before:ident)*, $($after:ident)*;)*) => { $(
        impl<$($before: Dimension,)* $($after: Dimension,)*> Squeeze<$axis> for ($($before,)* D<1>, $($after,)*) {
            type Squeezed = ($($before,)* $($after,)*);
        }
    )* };
}
squeezes! {
    0: , ;
    0: , A0; 1: A0, ;
    0: , A0 A1; 1: A0, A1; 2: A0 A1, ;
    0: , A0 A1 A2; 1: A0, A1 A2; 2: A0 A1, A2; 3: A0 A1 A2, ;
}

/// A shape into which a new axis `A` of `N` elements can be put.
#[diagnostic::on_unimplemented(
    message = "a tile of shape `{Self}` cannot get a new axis {A} of {N} elements",
    label = "no such position, already of rank 4, or no power of two"
)]
pub trait InsertAxis<const A: usize, const N: usize>: Shape {
    /// The shape with the axis.
    type Inserted: Shape;
}

macro_rules! insertions {
    ($($axis:literal: $($before:ident)*, $($after:ident)*;)*) => { $(
        impl<$($before: Dimension,)* $($after: Dimension,)* const N: usize> InsertAxis<$axis, N> for ($($before,)* $($after,)*)
        where
            D<N>: Dimension,
        {
            type Inserted = ($($before,)* D<N>, $($after,)*);
        }
    )* };
}
insertions! {
    0: , ;
    0: , A0; 1: A0, ;
    0: , A0 A1; 1: A0, A1; 2: A0 A1, ;
    0: , A0 A1 A2; 1: A0, A1 A2; 2: A0 A1, A2; 3: A0 A1 A2, ;
}
