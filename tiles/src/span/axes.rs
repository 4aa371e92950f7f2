//! Extents and mappings with one axis changed: what slicing, fixing and inserting axes make of them.

use super::extents::{Extent, Extents, OffsetInteger};
use super::mapping::{
    Left, Mapping, PaddedLeft, PaddedRight, Permuted, Pitched, PitchedLeft, Right, Strided,
};
use super::order::Permutation;
use crate::sealed::Sealed;
use crate::shape::{D, Rank};

/// Extents with an axis `A`.
#[diagnostic::on_unimplemented(
    message = "a span with extents `{Self}` has no axis {A}",
    label = "no such axis",
    note = "axes count from 0 and must be below the rank of the span"
)]
pub trait AxisOf<const A: usize>: Extents {
    /// The extents with any length along the axis.
    type Sliced: Extents<Rank = Self::Rank, Offset = Self::Offset>;
    /// The extents with length `N` along the axis.
    type Narrowed<const N: usize>: Extents<Rank = Self::Rank>;
    /// The extents without the axis.
    type Removed: Extents;
    /// The extents with length `N` along the axis.
    fn narrowed<const N: usize>(self) -> Self::Narrowed<N>;
    /// The extents with `length` along the axis, which fits.
    fn sliced(self, length: u64) -> Self::Sliced;
    /// The extents without the axis.
    fn removed(self) -> Self::Removed;
}

/// Extents into which an axis of length 1 can be put at position `A`.
#[diagnostic::on_unimplemented(
    message = "an axis cannot be inserted at position {A} of a span with extents `{Self}`",
    label = "no such position, or already of rank 4"
)]
pub trait InsertAxis<const A: usize>: Extents {
    /// The extents with the axis.
    type Inserted: Extents<Offset = Self::Offset>;
    /// The extents with the axis.
    fn inserted(self) -> Self::Inserted;
}

macro_rules! axes {
    ($($axis:literal: $($before:ident $b:tt)*, $own:ident, $($after:ident $a:tt)*;)*) => { $(
        impl<$($before: Extent,)* $own: Extent, $($after: Extent,)*> AxisOf<$axis> for ($($before,)* $own, $($after,)*) {
            type Sliced = ($($before,)* $own::Offset, $($after,)*);
            type Narrowed<const N: usize> = ($($before,)* D<N>, $($after,)*);
            type Removed = ($($before,)* $($after,)*);
            #[inline_on_device]
            fn narrowed<const N: usize>(self) -> Self::Narrowed<N> {
                ($(self.$b,)* D, $(self.$a,)*)
            }
            #[inline_on_device]
            fn sliced(self, length: u64) -> Self::Sliced {
                ($(self.$b,)* $own::Offset::from_u64(length), $(self.$a,)*)
            }
            #[inline_on_device]
            #[allow(clippy::unused_unit, reason = "the tuple of none")]
            fn removed(self) -> Self::Removed {
                ($(self.$b,)* $(self.$a,)*)
            }
        }
    )* };
}
axes! {
    0: , X, ;
    0: , X, B 1; 1: A 0, X, ;
    0: , X, B 1 C 2; 1: A 0, X, C 2; 2: A 0 B 1, X, ;
    0: , X, B 1 C 2 F 3; 1: A 0, X, C 2 F 3; 2: A 0 B 1, X, F 3; 3: A 0 B 1 C 2, X, ;
}

macro_rules! insertions {
    ($($axis:literal: $($before:ident $b:tt)*, $($after:ident $a:tt)*;)*) => { $(
        impl<$($before: Extent,)* $($after: Extent,)*> InsertAxis<$axis> for ($($before,)* $($after,)*)
        where
            ($($before,)* D<1>, $($after,)*): Extents<Offset = Self::Offset>,
        {
            type Inserted = ($($before,)* D<1>, $($after,)*);
            #[inline_on_device]
            fn inserted(self) -> Self::Inserted {
                ($(self.$b,)* D, $(self.$a,)*)
            }
        }
    )* };
}
insertions! {
    0: , ;
    0: , B 0; 1: A 0, ;
    0: , B 0 C 1; 1: A 0, C 1; 2: A 0 B 1, ;
    0: , B 0 C 1 F 2; 1: A 0, C 1 F 2; 2: A 0 B 1, F 2; 3: A 0 B 1 C 2, ;
}

/// The mapping of a slice along axis `A`.
pub trait SliceAxis<const A: usize>: Mapping {
    /// The mapping of the slice.
    type Sliced: Mapping;
}

/// The mapping of the rest of a span of rank `R`, where axis `A` is fixed.
pub trait RemoveAxis<R: Sealed, const A: usize>: Mapping {
    /// The mapping of the rest.
    type Rest: Mapping;
}

macro_rules! mappings {
    ($trait:ident $result:ident: $([$($generics:tt)*] $mapping:ty, $($rank:literal)? of $axis:literal => $to:ty;)*) => { $(
        impl<$($generics)*> $trait<$(Rank<$rank>,)? $axis> for $mapping {
            type $result = $to;
        }
    )* };
}
mappings! {
    SliceAxis Sliced:
    [] Right, of 0 => Right;
    [] Right, of 1 => Pitched;
    [] Right, of 2 => Pitched;
    [] Right, of 3 => Pitched;
    [const K: usize] PaddedRight<K>, of 0 => PaddedRight<K>;
    [const K: usize] PaddedRight<K>, of 1 => Pitched<K>;
    [const K: usize] PaddedRight<K>, of 2 => Pitched<K>;
    [const K: usize] PaddedRight<K>, of 3 => Pitched<K>;
}
mappings! {
    RemoveAxis Rest:
    [] Right, 1 of 0 => Right;
    [] Right, 2 of 0 => Right;
    [] Right, 2 of 1 => Strided;
    [] Right, 3 of 0 => Right;
    [] Right, 3 of 1 => Pitched;
    [] Right, 3 of 2 => Strided;
    [] Right, 4 of 0 => Right;
    [] Right, 4 of 1 => Pitched;
    [] Right, 4 of 2 => Pitched;
    [] Right, 4 of 3 => Strided;
    [] Left, 1 of 0 => Left;
    [] Left, 2 of 0 => Strided;
    [] Left, 2 of 1 => Left;
    [] Left, 3 of 0 => Strided;
    [] Left, 3 of 1 => PitchedLeft;
    [] Left, 3 of 2 => Left;
    [] Left, 4 of 0 => Strided;
    [] Left, 4 of 1 => PitchedLeft;
    [] Left, 4 of 2 => PitchedLeft;
    [] Left, 4 of 3 => Left;
}

/// Mappings of which every slice, or every rest of some ranks, is of one kind.
macro_rules! alike {
    ($([$($generics:tt)*] $mapping:ty => $sliced:ty;)*) => { $(
        impl<$($generics)* const A: usize> SliceAxis<A> for $mapping {
            type Sliced = $sliced;
        }
    )* };
    (rests: $([$($generics:tt)*] $mapping:ty, $contiguous:literal of $rank:literal, others $($axis:literal)* => $rest:ty;)*) => { $(
        impl<$($generics)*> RemoveAxis<Rank<$rank>, $contiguous> for $mapping {
            type Rest = Strided;
        }
        alike!(@others [$($generics)*] $mapping, $rank, $rest, $($axis)*);
    )* };
    (@others $generics:tt $mapping:ty, $rank:literal, $rest:ty, $($axis:literal)*) => { $(
        alike!(@other $generics $mapping, $rank, $rest, $axis);
    )* };
    (@other [$($generics:tt)*] $mapping:ty, $rank:literal, $rest:ty, $axis:literal) => {
        impl<$($generics)*> RemoveAxis<Rank<$rank>, $axis> for $mapping {
            type Rest = $rest;
        }
    };
}
alike! {
    [] Left => PitchedLeft;
    [const K: usize,] PaddedLeft<K> => PitchedLeft;
    [const K: usize,] Pitched<K> => Self;
    [] PitchedLeft => Self;
    [] Strided => Self;
    [M: Mapping, O: Permutation,] Permuted<M, O> => Self;
}
alike! {
    rests:
    [const K: usize] Pitched<K>, 0 of 1, others => Self;
    [const K: usize] Pitched<K>, 1 of 2, others 0 => Self;
    [const K: usize] Pitched<K>, 2 of 3, others 0 1 => Self;
    [const K: usize] Pitched<K>, 3 of 4, others 0 1 2 => Self;
    [const K: usize] PaddedRight<K>, 0 of 1, others => Self;
    [const K: usize] PaddedRight<K>, 1 of 2, others 0 => Pitched<K>;
    [const K: usize] PaddedRight<K>, 2 of 3, others 0 1 => Pitched<K>;
    [const K: usize] PaddedRight<K>, 3 of 4, others 0 1 2 => Pitched<K>;
    [] PitchedLeft, 0 of 1, others => Self;
    [] PitchedLeft, 0 of 2, others 1 => Self;
    [] PitchedLeft, 0 of 3, others 1 2 => Self;
    [] PitchedLeft, 0 of 4, others 1 2 3 => Self;
    [const K: usize] PaddedLeft<K>, 0 of 1, others => Self;
    [const K: usize] PaddedLeft<K>, 0 of 2, others 1 => PitchedLeft;
    [const K: usize] PaddedLeft<K>, 0 of 3, others 1 2 => PitchedLeft;
    [const K: usize] PaddedLeft<K>, 0 of 4, others 1 2 3 => PitchedLeft;
}

impl<R: Sealed, const A: usize> RemoveAxis<R, A> for Strided {
    type Rest = Self;
}

// Which axis is contiguous then, no type says: the rest is loaded element by element unless it is permuted first.
impl<M: Mapping, O: Permutation, R: Sealed, const A: usize> RemoveAxis<R, A> for Permuted<M, O> {
    type Rest = Strided;
}
