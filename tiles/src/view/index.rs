//! Tile indices: which tile of a view.

use super::ownership::{AnyNumber, IndexKind, Naming};
use crate::context::BlockIndex;
use crate::sealed::Sealed;
use crate::shape::{MAXIMUM_RANK, Rank};

/// One number of a tile index.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile index",
    label = "expected u32, i32, u64, i64, usize or a block index",
    note = "a negative number is out of bounds"
)]
pub trait IndexNumber: Sealed + Copy {
    /// The grid axes, as bits, along which the number belongs to this block alone.
    const OWNED_AXES: u32;
    /// Whether it may be negative.
    const SIGNED: bool;
    /// What kind of number it is: a [`BlockIndex`], or [`AnyNumber`].
    type Kind: IndexKind;
    /// The number; negative ones are out of every range.
    fn get(self) -> u64;
    /// The number with its sign; longer ones are out of every range.
    fn signed(self) -> i64;
    /// Panics if the number belongs to another block than this thread runs.
    #[doc(hidden)]
    #[inline_on_device]
    #[track_caller]
    fn assert_current(self) {}
}

macro_rules! index_numbers {
    ($($type:ident)*) => { $(
        impl IndexNumber for $type {
            const OWNED_AXES: u32 = 0;
            const SIGNED: bool = $type::MIN != 0;
            type Kind = AnyNumber;
            #[inline_on_device]
            fn get(self) -> u64 {
                u64::try_from(self).unwrap_or(u64::MAX)
            }
            #[inline_on_device]
            fn signed(self) -> i64 {
                i64::try_from(self).unwrap_or(i64::MAX)
            }
        }
    )* };
}
index_numbers!(u32 i32 u64 i64 usize);

impl<const AXIS: usize> IndexNumber for BlockIndex<AXIS> {
    const OWNED_AXES: u32 = 1 << AXIS;
    const SIGNED: bool = false;
    type Kind = Self;
    #[inline_on_device]
    fn get(self) -> u64 {
        u64::from(*self)
    }
    #[inline_on_device]
    fn signed(self) -> i64 {
        i64::from(*self)
    }
    #[inline_on_device]
    #[track_caller]
    fn assert_current(self) {
        self.assert_current();
    }
}

/// The index of a tile in a view of rank `R`: a tuple of as many numbers, or a single number for rank 1.
#[diagnostic::on_unimplemented(
    message = "a tile index of this view needs one number for each of its axes",
    label = "this index has another rank than the view",
    note = "write `(i, j)` for a view of rank 2, `i` or `(i,)` for rank 1, `()` for rank 0"
)]
pub trait TileIndex<R: Sealed>: Sealed + Copy {
    /// The grid axes, as bits, whose block index is part of it.
    const OWNED_AXES: u32;
    /// Where in it the block's indices stand: the kinds of its numbers.
    type Naming: Naming;
    /// The numbers; 0 beyond the rank.
    fn get(self) -> [u64; MAXIMUM_RANK];
    /// The numbers with their signs; 0 beyond the rank.
    fn signed(self) -> [i64; MAXIMUM_RANK];
    /// Panics if a number belongs to another block than this thread runs.
    #[doc(hidden)]
    #[track_caller]
    fn assert_current(self);
}

impl<I: IndexNumber> TileIndex<Rank<1>> for I {
    const OWNED_AXES: u32 = I::OWNED_AXES;
    type Naming = (I::Kind,);
    #[inline_on_device]
    fn get(self) -> [u64; MAXIMUM_RANK] {
        [IndexNumber::get(self), 0, 0, 0]
    }
    #[inline_on_device]
    fn signed(self) -> [i64; MAXIMUM_RANK] {
        [IndexNumber::signed(self), 0, 0, 0]
    }
    #[inline_on_device]
    #[track_caller]
    fn assert_current(self) {
        IndexNumber::assert_current(self);
    }
}

macro_rules! tile_indices {
    ($($rank:literal: $($name:ident)*, $($zero:literal)*;)*) => { $(
        impl<$($name: IndexNumber),*> TileIndex<Rank<$rank>> for ($($name,)*) {
            const OWNED_AXES: u32 = 0 $(| $name::OWNED_AXES)*;
            type Naming = ($($name::Kind,)*);
            #[inline_on_device]
            #[allow(non_snake_case, reason = "a number goes by the name of its type")]
            fn get(self) -> [u64; MAXIMUM_RANK] {
                let ($($name,)*) = self;
                [$($name.get(),)* $($zero),*]
            }
            #[inline_on_device]
            #[allow(non_snake_case, reason = "a number goes by the name of its type")]
            fn signed(self) -> [i64; MAXIMUM_RANK] {
                let ($($name,)*) = self;
                [$($name.signed(),)* $($zero),*]
            }
            #[inline_on_device]
            #[track_caller]
            #[allow(non_snake_case, reason = "a number goes by the name of its type")]
            fn assert_current(self) {
                let ($($name,)*) = self;
                $($name.assert_current();)*
            }
        }
    )* };
}
tile_indices! {
    0: , 0 0 0 0;
    1: A, 0 0 0;
    2: A B, 0 0;
    3: A B C, 0;
    4: A B C D, ;
}
