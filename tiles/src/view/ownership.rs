//! Ownership of the tiles of a writable view, as a type: at which places of an index the block's own indices stand.
//!
//! Blocks own different tiles if all of them index theirs in one way. `(cx.bid::<0>(), 0)` and `(1, cx.bid::<0>())` both
//! contain the block's index, yet block 1's first tile by the one is block 0's by the other. The ownership is therefore a
//! parameter of the view's type. The compiler infers it from the first index and checks all others against it. Views that are
//! not exclusive have the ownership `()` and take any index.

use crate::context::BlockIndex;
use crate::schedule::order::TileOrder;
use crate::sealed::{Sealed, sealed};
use crate::span::{Access, Atomic, Exclusive, ReadOnly};
use core::marker::PhantomData;

/// The kind of a number that any block may know.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyNumber;

/// The ownership of tiles that are scheduled in order `O`: [`PartitionView::schedule`](super::PartitionView::schedule).
#[derive(Clone, Copy, Debug, Default)]
pub struct InOrder<O>(PhantomData<O>);

/// The kind of a number in an index.
pub trait IndexKind: Sealed + SameKind<Self> + Sized + 'static {
    /// 0 for any number, and 1 more than the grid axis for a block's own index.
    const NUMBER: u64;
}

impl IndexKind for AnyNumber {
    const NUMBER: u64 = 0;
}

impl<const AXIS: usize> IndexKind for BlockIndex<AXIS> {
    const NUMBER: u64 = 1 + AXIS as u64;
}

/// Kinds that are the same: a trait for the sake of its error text.
#[diagnostic::on_unimplemented(
    message = "the tiles of a writable view are named by the block's index at the same place every time",
    label = "`{Self}` stands where another index of the same view has `{K}`",
    note = "what block 0 calls (cx.bid::<0>(), 1) block 1 may call (0, cx.bid::<0>()): both would store it",
    note = "a block's index at a place where it proves nothing is written as a number, `*cx.bid::<0>()`"
)]
pub trait SameKind<K: Sealed>: Sealed {}
impl SameKind<Self> for AnyNumber {}
impl<const AXIS: usize> SameKind<Self> for BlockIndex<AXIS> {}

/// An ownership: the kinds of an index's numbers, as a tuple; or [`InOrder`].
pub trait Naming: Sealed + SameNaming<Self> + Sized + 'static {
    /// A number that identifies it: two bits for each place, the first place lowest, or above these the number of a tile order.
    const NUMBER: u64;
}

/// Ownerships that are the same.
#[diagnostic::on_unimplemented(
    message = "the tiles of a writable view are named by the block's index at the same place every time",
    label = "tiles named in the way `{Self}` in a view that names them in the way `{N}`",
    note = "a view whose tiles are scheduled is used through `schedule` alone; a block may have been given another one's tile"
)]
pub trait SameNaming<N: Sealed>: Sealed {}

macro_rules! namings {
    ($(($($name:ident $other:ident $place:literal),*))*) => { $(
        impl<$($name: IndexKind),*> Naming for ($($name,)*) {
            const NUMBER: u64 = 0 $(| $name::NUMBER << (2 * $place))*;
        }
        impl<$($name: SameKind<$other>, $other: Sealed),*> SameNaming<($($other,)*)> for ($($name,)*) {}
    )* };
}
namings! { () (A P 0) (A P 0, B Q 1) (A P 0, B Q 1, C R 2) (A P 0, B Q 1, C R 2, D S 3) }

/// The ownership of an index whose numbers any block may know, whatever its rank.
impl Naming for AnyNumber {
    const NUMBER: u64 = 0;
}
impl SameNaming<Self> for AnyNumber {}

/// Numbers from here on are tile orders.
pub(super) const FIRST_ORDER: u64 = 1 << 8;

impl<O: TileOrder> Naming for InOrder<O> {
    const NUMBER: u64 = FIRST_ORDER + O::NUMBER;
}
impl<O> SameNaming<Self> for InOrder<O> {}

/// The access modes that implement [`NamedBy`] and [`TakesNames`] for an ownership `N`: nobody else may say which block owns a
/// tile.
#[diagnostic::on_unimplemented(
    message = "`{N}` is not a type of cuda-tiles, and its traits are for no others",
    label = "views of a span with access `{Self}` do not name their tiles in the way `{N}`",
    note = "unsafe code trusts what this trait says, so that all of its implementations are in the library"
)]
pub trait NamesBy<N> {}

impl NamesBy<()> for ReadOnly {}
impl NamesBy<()> for Atomic {}
#[diagnostic::do_not_recommend]
impl<N: Naming> NamesBy<N> for Exclusive {}

/// Access modes whose views can have the ownership `N`.
#[diagnostic::on_unimplemented(
    message = "views of a span with access `{Self}` do not name their tiles in the way `{N}`",
    label = "their indices are free",
    note = "only writable views know how their tiles are named"
)]
pub trait NamedBy<N>: Access + NamesBy<N> {
    /// The number of the ownership; 0 where indices are free.
    const NAMING: u64 = 0;
}

/// Access modes whose views, with ownership `N`, take an index of kind `I`.
#[diagnostic::on_unimplemented(
    message = "views of a span with access `{Self}` take no index of the kind `{I}` where tiles are named in the way `{N}`",
    label = "not an index of this view"
)]
pub trait TakesNames<I: Sealed, N>: NamedBy<N> {}

impl NamedBy<()> for ReadOnly {}
impl NamedBy<()> for Atomic {}
impl<N: Naming> NamedBy<N> for Exclusive {
    const NAMING: u64 = N::NUMBER;
}
impl<I: Sealed> TakesNames<I, ()> for ReadOnly {}
impl<I: Sealed> TakesNames<I, ()> for Atomic {}
impl<I: Sealed + SameNaming<N>, N: Naming> TakesNames<I, N> for Exclusive {}

sealed! {
    [] AnyNumber;
    [O] InOrder<O>;
}
