//! A list of spans, cut into tiles of one shape.
//!
//! A view of a list is one of a tensor with one more axis, the first, along which its items lie: that says which block owns a tile. The tiles
//! themselves are those of a view of the item.

use super::index::TileIndex;
use super::ownership::{NamedBy, Naming, TakesNames};
use super::padding::Padding;
use super::partition_check::assert_same_list;
use super::tiled::{PartitionView, TiledView};
use crate::context::Cx;
use crate::element::{Element, StoredAs};
use crate::launch::List;
use crate::layout::{Block, Blocked, HeldBy};
use crate::sealed::{Sealed, sealed};
use crate::shape::{ALL, BroadcastsTo, MAXIMUM_RANK, OfRank, PADDED_VIEW, Rank, Shape, is_padded};
use crate::span::access::Writable;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use core::marker::PhantomData;

/// A [`List`] of spans, each cut into tiles of shape `S` side by side. Made by [`List::partition`].
///
/// An index begins with the number of the item. Behind it is the tile's index in the [`PartitionView`] of that item. Loads and stores, their
/// panics and their instructions are that view's, [`TiledView`].
pub struct ListView<X: crate::launch::Parameter, const ITEMS: usize, S, B, N = ()> {
    list: List<X, ITEMS>,
    cut: PhantomData<(S, B, N)>,
}

/// The index of a tile in a list of tensors of rank `R`, a [`Rank`]: the item's number, and the index of the tile in it.
#[diagnostic::on_unimplemented(
    message = "a tile index of a list needs the number of the item, and one number for each axis of its tensors",
    label = "this index has another length",
    note = "write `(k, i)` for item k of tensors of rank 1, `(k, i, j)` for rank 2; tensors of a list have one axis to three"
)]
pub trait ItemIndex<R: Sealed>: Sealed + Copy {
    /// The kinds of all numbers.
    type Naming: Naming;
    /// The index behind the item's number.
    type Tile: TileIndex<R, Naming = Self::Naming>;
    /// The item's number.
    fn item(self) -> u64;
    /// The index behind it.
    fn tile(self) -> Self::Tile;
}

/// An index without its first number. Whose block's it is, the whole index says.
#[derive(Clone, Copy)]
pub struct BehindItem<I>(I);

sealed! { [I] BehindItem<I>; }

macro_rules! behind_item {
    ($($rank:literal of $all:literal;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl<I: TileIndex<Rank<$all>>> TileIndex<Rank<$rank>> for BehindItem<I> {
            const OWNED_AXES: u32 = I::OWNED_AXES;
            type Naming = I::Naming;
            #[inline_on_device]
            fn get(self) -> [u64; MAXIMUM_RANK] {
                let [_, a, b, c] = self.0.get();
                [a, b, c, 0]
            }
            #[inline_on_device]
            fn signed(self) -> [i64; MAXIMUM_RANK] {
                let [_, a, b, c] = self.0.signed();
                [a, b, c, 0]
            }
            #[inline_on_device]
            #[track_caller]
            fn assert_current(self) {
                self.0.assert_current();
            }
        }

        impl<I: TileIndex<Rank<$all>>> ItemIndex<Rank<$rank>> for I {
            type Naming = I::Naming;
            type Tile = BehindItem<I>;
            #[inline_on_device]
            fn item(self) -> u64 {
                self.get()[0]
            }
            #[inline_on_device]
            fn tile(self) -> BehindItem<I> {
                BehindItem(self)
            }
        }
    )* };
}
behind_item! {
    1 of 2;
    2 of 3;
    3 of 4;
}

impl<T, E, A, M, G, const ITEMS: usize> List<TensorSpan<T, E, A, M, G>, ITEMS>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
{
    /// All items cut into tiles of `shape`, side by side.
    ///
    /// A step of an optimiser for many tensors by one launch. The second axis of the grid counts them, and the first the tiles of the
    /// longest one; in shorter ones the last blocks find nothing to do.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// #[kernel(grid = 2)]
    /// pub fn descend(
    ///     cx: Cx,
    ///     parameters: List<SpanMut<f32, (u32,)>, 24>,
    ///     gradients: List<Span<f32, (u32,)>, 24>,
    ///     rate: f32,
    /// ) {
    ///     let tile = shape![1024];
    ///     let (parameters, gradients) = (parameters.partition(cx, tile), gradients.partition(cx, tile));
    ///     let index = (cx.bid::<1>(), cx.bid::<0>());
    ///     let step = gradients.load_masked(Zero, index) * rate;
    ///     parameters.store_masked(parameters.load_masked(Zero, index) - step, index);
    /// }
    /// ```
    ///
    /// # Writable spans
    ///
    /// They are cut as [`TensorSpan::partition`] says. An index contains the block index of every grid axis, at the same places every time; the
    /// item's number is one of the places.
    ///
    /// # Panics
    ///
    /// As [`TensorSpan::partition`].
    #[inline_on_device]
    #[track_caller]
    pub fn partition<S: Shape + OfRank<E::Rank>, B: Block, N>(
        self,
        cx: Cx<B>,
        shape: S,
    ) -> ListView<TensorSpan<T, E, A, M, G>, ITEMS, S, B, N>
    where
        A: NamedBy<N>,
    {
        let _ = shape;
        const {
            assert!(
                E::RANK >= 1 && E::RANK < MAXIMUM_RANK,
                "tensors of a list that is cut have one axis to three"
            );
            assert!(!is_padded::<S>(ALL), "{}", PADDED_VIEW);
        };
        cx.assert_current();
        assert_same_list::<T, E, A, M, G, S, B, N, ITEMS>(&self, cx);
        ListView { list: self, cut: PhantomData }
    }
}

impl<T, E, A, M, G, const ITEMS: usize, S, B, N> ListView<TensorSpan<T, E, A, M, G>, ITEMS, S, B, N>
where
    T: Element,
    E: Extents,
    A: Access + NamedBy<N>,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
{
    /// The view of an item, for an operation of this name.
    #[inline_on_device]
    #[track_caller]
    fn view(&self, operation: &'static str, item: u64) -> PartitionView<TensorSpan<T, E, A, M, G>, S, B, N> {
        // SAFETY: the span stays in this view, whose indices contain the item's number: a block has the tiles that it owns of the whole list.
        TiledView::of_item(unsafe { self.list.item(operation, item) })
    }

    /// How many items there are.
    #[inline_on_device]
    pub fn len(&self) -> u32 {
        self.list.len()
    }

    /// Whether there are none.
    #[inline_on_device]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The number of tiles of an item along `axis` that start inside its tensor, partial ones included.
    ///
    /// # Panics
    ///
    /// If the list has no such item, or the tensor no such axis (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn num_tiles(&self, item: u32, axis: usize) -> E::Offset {
        self.view("num_tiles", item.into()).num_tiles(axis)
    }

    /// Loads tile `index`, which must lie wholly inside the item's tensor.
    ///
    /// # Panics
    ///
    /// If it does not, or the list has no such item (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn load<I: ItemIndex<E::Rank>>(&self, index: I) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        self.view("load", index.item()).load(index.tile())
    }

    /// Loads tile `index`, with `padding` in place of elements outside the item's tensor.
    ///
    /// # Panics
    ///
    /// If the list has no such item (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn load_masked<P: Padding<T>, I: ItemIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        self.view("load_masked", index.item()).load_masked(padding, index.tile())
    }

    /// Stores `value` as tile `index`, which must lie wholly inside the item's tensor.
    ///
    /// # Panics
    ///
    /// If it does not, or the list has no such item (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn store<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: ItemIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        self.view("store", index.item()).store(value, index.tile());
    }

    /// Stores those elements of `value` as tile `index` that lie inside the item's tensor.
    ///
    /// # Panics
    ///
    /// If the list has no such item (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn store_masked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: ItemIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        self.view("store_masked", index.item()).store_masked(value, index.tile());
    }
}
