//! Static tile shapes: tuples of up to four power-of-two dimensions.
//!
//! `shape![64, 32]` is a shape as a value, [`Shape2<64, 32>`](Shape2) the same as a type. Shapes take no
//! memory; everything about them is known to the compiler.

mod broadcast;
pub(crate) mod order;
mod padded;
mod resize;
mod scale;

pub use broadcast::{Broadcast, BroadcastDimension, BroadcastsTo, FitsShape};
pub(crate) use order::is_permutation;
pub use order::{AxisDimension, AxisOrder, Swap, Transpose};
pub(crate) use padded::{PADDED_AXIS, PADDED_VIEW, is_padded};
pub use padded::{Padded, Side, TileSide};
pub use resize::{DimensionCount, Flatten, Halve, InsertAxis, Lengthen, Squeeze};
pub use scale::{DimensionSize, Power, ScaleAxis};

use crate::registers::{PowerOfTwo, Product};
use crate::sealed::{Sealed, sealed};
use typenum::{Const, ToUInt, U1};

/// A static dimension of a tile, or a static extent of a span, of `N` elements.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
#[doc(alias("integral_constant", "Constant"))]
pub struct D<const N: usize>;

/// The highest rank of tiles, spans and views.
pub const MAXIMUM_RANK: usize = 4;

/// A dimension of a tile, as a type: `D<N>` for the powers of two.
///
/// They run from 1 to 2^24 (16,777,216).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile dimension",
    label = "must be a power of two",
    note = "tile dimensions are static powers of two: 1, 2, 4, ... 16777216"
)]
pub trait Dimension:
    Sealed
    + Copy
    + Default
    + Send
    + Sync
    + 'static
    + BroadcastDimension<Self, Output = Self>
    + BroadcastDimension<D<1>, Output = Self>
{
    /// The size as a power of two.
    type Count: PowerOfTwo;
    /// The elements in use: all of them, unless the dimension is [`Padded`].
    const LENGTH: usize = <Self::Count as PowerOfTwo>::COUNT;
}

macro_rules! dimensions {
    ($($size:literal)*) => { $(
        impl Dimension for D<$size> {
            type Count = <Const<$size> as ToUInt>::Output;
        }
    )* };
}
dimensions!(1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576
    2097152 4194304 8388608 16777216);

/// A shape as data, for the constant functions that lay tiles out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShapeDescription {
    /// Number of dimensions.
    pub rank: usize,
    /// Base-2 logarithm of each dimension; 0 beyond the rank.
    pub log: [u32; MAXIMUM_RANK],
}

impl ShapeDescription {
    /// How many low bits of the flat row-major index lie below the bits of `axis`.
    pub const fn low_bit(&self, axis: usize) -> u32 {
        let mut bits = 0;
        let mut k = self.rank;
        while k > axis + 1 {
            k -= 1;
            bits += self.log[k];
        }
        bits
    }

    /// The number of bits of the flat row-major index.
    pub const fn bits(&self) -> u32 {
        self.log[0] + self.log[1] + self.log[2] + self.log[3]
    }

    /// The coordinate along `axis` of the element with flat row-major index `flat`.
    #[inline_on_device]
    pub const fn coordinate(&self, flat: usize, axis: usize) -> usize {
        (flat >> self.low_bit(axis)) & ((1 << self.log[axis]) - 1)
    }
}

/// A tile shape: a tuple of at most four [`Dimension`]s.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile shape",
    label = "expected a tuple of at most 4 tile dimensions",
    note = "write `shape![64, 32]` for the value and `Shape2<64, 32>` for the type"
)]
pub trait Shape:
    Sealed
    + Copy
    + Default
    + Send
    + Sync
    + 'static
    + OfRank<Self::Rank>
    + Broadcast<Self, Output = Self>
    + Broadcast<(), Output = Self>
{
    /// The number of dimensions, as a type that spans compare with theirs.
    type Rank: Sealed;
    /// The number of elements.
    type Count: PowerOfTwo;
    /// The length of the last axis but one, the rows of a matrix; 1 without such an axis.
    type Rows: PowerOfTwo;
    /// The length of the last axis, the columns of a matrix; 1 without axes.
    type Columns: PowerOfTwo;
    /// The shape as data.
    const DESCRIPTION: ShapeDescription;
    /// The elements in use along each dimension; 1 beyond the rank.
    const LENGTHS: [usize; MAXIMUM_RANK];
    /// The number of elements.
    const LEN: usize = <Self::Count as PowerOfTwo>::COUNT;
}

/// A rank as a type.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Rank<const R: usize>;

/// A tuple, of dimensions or of extents, of rank `R`, a [`Rank`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not of rank `{R}`",
    label = "wrong number of axes",
    note = "the tensor, the kernel's span and the shape of its tiles have equally many axes; where tiles are thin, their shape has a 1"
)]
pub trait OfRank<R: Sealed>: Sealed {}

/// Names all axes at once, for [`Axis`].
pub const ALL: usize = usize::MAX;

/// A shape with an axis number `A`; with [`ALL`], the flattened tile as one axis.
#[diagnostic::on_unimplemented(
    message = "tile shape `{Self}` has no axis {A}",
    label = "no such axis",
    note = "axes count from 0 and must be below the rank of the tile"
)]
pub trait Axis<const A: usize>: Shape + Broadcast<<Self as Axis<A>>::Reduced, Output = Self> {
    /// The number of elements between neighbours along the axis in row-major order.
    type Inner: PowerOfTwo;
    /// The length of the axis.
    type Length: PowerOfTwo;
    /// The shape with this axis at size 1 (for [`ALL`]: rank 0).
    type Reduced: Shape;
}

impl<S: Shape> Axis<ALL> for S {
    type Inner = U1;
    type Length = S::Count;
    type Reduced = ();
}

/// A shape into which a dimension of size 1 can be put at position `A`.
#[diagnostic::on_unimplemented(
    message = "a tile of shape `{Self}` cannot be expanded at axis {A}",
    label = "no such position, or already of rank 4"
)]
pub trait ExpandDimension<const A: usize>: Shape {
    /// The expanded shape.
    type Expanded: Shape;
}

macro_rules! shapes {
    ($($rank:literal: $($name:ident)*;)*) => { $(
        impl<$($name),*> OfRank<Rank<$rank>> for ($($name,)*) {}
        impl<$($name: Dimension),*> Shape for ($($name,)*) {
            type Rank = Rank<$rank>;
            type Count = shapes!(@product $($name)*);
            type Rows = shapes!(@rows $($name)*);
            type Columns = shapes!(@columns $($name)*);
            const DESCRIPTION: ShapeDescription = ShapeDescription {
                rank: $rank,
                log: {
                    let dimensions: &[u32] = &[$($name::Count::LOG),*];
                    let mut log = [0; MAXIMUM_RANK];
                    let mut k = 0;
                    while k < dimensions.len() {
                        log[k] = dimensions[k];
                        k += 1;
                    }
                    log
                },
            };
            const LENGTHS: [usize; MAXIMUM_RANK] = {
                let dimensions: &[usize] = &[$($name::LENGTH),*];
                let mut lengths = [1; MAXIMUM_RANK];
                lengths.split_at_mut(dimensions.len()).0.copy_from_slice(dimensions);
                lengths
            };
        }
    )* };
    (@rows) => { U1 };
    (@rows $own:ident) => { U1 };
    (@rows $own:ident $last:ident) => { $own::Count };
    (@rows $first:ident $($rest:ident)*) => { shapes!(@rows $($rest)*) };
    (@columns) => { U1 };
    (@columns $own:ident) => { $own::Count };
    (@columns $first:ident $($rest:ident)*) => { shapes!(@columns $($rest)*) };
    (@product) => { U1 };
    (@product $first:ident $($rest:ident)*) => { Product<$first::Count, shapes!(@product $($rest)*)> };
}
shapes! { 0: ; 1: A0; 2: A0 A1; 3: A0 A1 A2; 4: A0 A1 A2 A3; }

/// `axis: dimensions before, the axis itself, dimensions after`.
macro_rules! axes {
    ($($axis:literal: $($before:ident)*, $own:ident, $($after:ident)*;)*) => { $(
        impl<$($before: Dimension,)* $own: Dimension, $($after: Dimension,)*> Axis<$axis> for ($($before,)* $own, $($after,)*) {
            type Inner = shapes!(@product $($after)*);
            type Length = $own::Count;
            type Reduced = ($($before,)* D<1>, $($after,)*);
        }
    )* };
}
axes! {
    0: , A0, ;
    0: , A0, A1; 1: A0, A1, ;
    0: , A0, A1 A2; 1: A0, A1, A2; 2: A0 A1, A2, ;
    0: , A0, A1 A2 A3; 1: A0, A1, A2 A3; 2: A0 A1, A2, A3; 3: A0 A1 A2, A3, ;
}

macro_rules! expansions {
    ($($axis:literal: $($before:ident)*, $($after:ident)*;)*) => { $(
        impl<$($before: Dimension,)* $($after: Dimension,)*> ExpandDimension<$axis> for ($($before,)* $($after,)*) {
            type Expanded = ($($before,)* D<1>, $($after,)*);
        }
    )* };
}
expansions! {
    0: , ;
    0: , A0; 1: A0, ;
    0: , A0 A1; 1: A0, A1; 2: A0 A1, ;
    0: , A0 A1 A2; 1: A0, A1 A2; 2: A0 A1, A2; 3: A0 A1 A2, ;
}

/// The shape of a scalar tile.
pub type Shape0 = ();
/// A shape of one dimension.
pub type Shape1<const A: usize> = (D<A>,);
/// A shape of two dimensions.
pub type Shape2<const A: usize, const B: usize> = (D<A>, D<B>);
/// A shape of three dimensions.
pub type Shape3<const A: usize, const B: usize, const C: usize> = (D<A>, D<B>, D<C>);
/// A shape of four dimensions.
pub type Shape4<const A: usize, const B: usize, const C: usize, const E: usize> = (D<A>, D<B>, D<C>, D<E>);

/// A tile shape as a value: `shape![64, 32]`.
///
/// Dimensions may be literals or constants, const parameters of the surrounding function included. Each
/// must be a power of two.
///
/// ```
/// use cuda_tiles::prelude::*;
/// let shape: Shape2<64, 32> = shape![64, 32];
/// assert_eq!(shape, Shape2::default());
/// ```
#[macro_export]
macro_rules! shape {
    ($($size:expr),* $(,)?) => { ($($crate::shape::D::<{ $size }>,)*) };
}

sealed! {
    [const N: usize] D<N>;
    [const R: usize] Rank<R>;
}
