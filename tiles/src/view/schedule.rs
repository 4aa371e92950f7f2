//! Scheduled views: loops of a persistent kernel over more tiles than blocks, in a tile order of choice.

use super::PartitionView;
use super::index::TileIndex;
use super::ownership::{AnyNumber, InOrder, TakesNames};
use super::padding::Padding;
use crate::context::Cx;
use crate::element::{Element, StoredAs};
use crate::layout::{Block, Blocked, HeldBy};
use crate::schedule::indices::total;
use crate::schedule::order::TileOrder;
use crate::sealed::{Sealed, sealed};
use crate::shape::{BroadcastsTo, MAXIMUM_RANK, Shape};
use crate::span::access::Writable;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use core::marker::PhantomData;

/// A view whose tiles are scheduled to the blocks of a one-dimensional grid, from [`PartitionView::schedule`].
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let mut numbers = [1_i32; 10];
/// cpu::block_on_mut(&mut numbers, [10], |cx, span: SpanMut<i32, (u32,)>| {
///     let view = span.partition(cx, shape![4]).schedule(cx, RowMajor);
///     for tile in view.tiles() {
///         tile.store_masked(tile.load_masked(Zero) * 2);
///     }
/// });
/// assert_eq!(numbers, [2; 10]);
/// ```
///
/// # Operations
///
/// | | |
/// |---|---|
/// | loop | [`tiles`](Self::tiles) |
///
/// [`ScheduledTile`] has the operations of one tile.
///
/// # Which block has which tile
///
/// Tile number `n` of the order belongs to block `n % num_blocks`. Each tile therefore belongs to one block, whatever the size
/// of the grid. The view is consumed, and there is no other way to its tiles.
pub struct ScheduledTiles<X, S, B, O, N = InOrder<O>> {
    view: PartitionView<X, S, B, N>,
    cx: Cx<B>,
    order: O,
}

/// A tile of this block, from [`ScheduledTiles::tiles`].
///
/// # Operations
///
/// | | |
/// |---|---|
/// | index | [`axis`](Self::axis) |
/// | load | [`load`](Self::load) [`load_masked`](Self::load_masked) |
/// | store | [`store`](Self::store) [`store_masked`](Self::store_masked) |
///
/// As an index of another view, `&tile` is plain numbers. Such an index loads. It does not store to a writable span.
///
/// # On a GPU
///
/// The layout and the instructions of [`TiledView`](super::TiledView#on-a-gpu).
pub struct ScheduledTile<'a, X, S, B, O, N = InOrder<O>> {
    // A copy of the view under its borrow. A pointer carried along by the loop would put the view into memory.
    view: PartitionView<X, S, B, N>,
    index: [u32; MAXIMUM_RANK],
    borrow: PhantomData<(&'a (), O)>,
}

/// The index of a tile that was scheduled to this block in order `O`, for use within its own view.
#[derive(Clone, Copy)]
struct Own<O>([u32; MAXIMUM_RANK], PhantomData<O>);

/// The numbers of an index in 64 bits.
#[inline_on_device]
fn wide([a, b, c, d]: [u32; MAXIMUM_RANK]) -> [u64; MAXIMUM_RANK] {
    [a.into(), b.into(), c.into(), d.into()]
}

impl<R: Sealed, O: TileOrder> TileIndex<R> for Own<O> {
    const OWNED_AXES: u32 = u32::MAX;
    type Naming = InOrder<O>;
    #[inline_on_device]
    fn get(self) -> [u64; MAXIMUM_RANK] {
        wide(self.0)
    }
    #[inline_on_device]
    fn signed(self) -> [i64; MAXIMUM_RANK] {
        self.0.map(i64::from)
    }
    // The index is used with the view that it was made from, which is checked itself.
    #[inline_on_device]
    fn assert_current(self) {}
}

sealed! {
    [O] Own<O>;
    ['k, X, S, B, O, N] &ScheduledTile<'k, X, S, B, O, N>;
}

impl<T: Element, E: Extents, A, M: Mapping, G, S, B, O, N> TileIndex<E::Rank>
    for &ScheduledTile<'_, TensorSpan<T, E, A, M, G>, S, B, O, N>
{
    const OWNED_AXES: u32 = 0;
    type Naming = AnyNumber;
    #[inline_on_device]
    fn get(self) -> [u64; MAXIMUM_RANK] {
        wide(self.index)
    }
    #[inline_on_device]
    fn signed(self) -> [i64; MAXIMUM_RANK] {
        self.index.map(i64::from)
    }
    #[inline_on_device]
    fn assert_current(self) {}
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block, N>
    PartitionView<TensorSpan<T, E, A, M, G>, S, B, N>
{
    /// Schedules the tiles to the blocks of a one-dimensional grid of any length.
    ///
    /// A *persistent* kernel is launched with as many blocks as run at the same time, and each block computes its share.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// #[kernel]
    /// fn transpose(cx: Cx, x: Span<f32, (u32, u32)>, y: SpanMut<f32, (u32, u32)>) {
    ///     let x = x.partition(cx, shape![1, 32]);
    ///     let y = y.partition(cx, shape![32, 1]).schedule(cx, Grouped::<8>);
    ///     for tile in y.tiles() {
    ///         let row = x.load_masked(Zero, (tile.axis::<1>(), tile.axis::<0>()));
    ///         tile.store_masked(row.reshape(shape![32, 1]));
    ///     }
    /// }
    /// ```
    #[inline_on_device]
    #[track_caller]
    pub fn schedule<O: TileOrder>(
        self,
        cx: Cx<B>,
        order: O,
    ) -> ScheduledTiles<TensorSpan<T, E, A, M, G>, S, B, O, N>
    where
        A: TakesNames<InOrder<O>, N>,
    {
        const {
            assert!(
                B::GRID_RANK == 1,
                "tiles are scheduled along grid axis 0: state no `grid` in #[kernel(...)], the order takes the place of further axes"
            )
        };
        cx.assert_current();
        self.span.assert_lent();
        ScheduledTiles { view: self, cx, order }
    }
}

impl<T: Element, E: Extents, A: Access, M: Mapping, G: Alignment, S: Shape, B: Block, O: TileOrder, N>
    ScheduledTiles<TensorSpan<T, E, A, M, G>, S, B, O, N>
{
    /// The tiles of this block, edge tiles included.
    ///
    /// [`ScheduledTiles`] has an example. Loops over two views with the same numbers of tiles, scheduled in one order, run side by side:
    /// `for (y, z) in y.tiles().zip(z.tiles())`.
    ///
    /// # Panics
    ///
    /// If the view has 2³² tiles or more (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn tiles(&self) -> impl Iterator<Item = ScheduledTile<'_, TensorSpan<T, E, A, M, G>, S, B, O, N>> {
        let counts = self.counts();
        let (total, step) = (total(counts), self.cx.num_blocks(0));
        let [a, b, c, d] = counts;
        let counts = [a as u32, b as u32, c as u32, d as u32];
        let mut next = Some(*self.cx.bid::<0>());
        core::iter::from_fn(move || {
            let number = next.filter(|&number| number < total)?;
            next = number.checked_add(step);
            // SAFETY: a view owns nothing, so that a copy has nothing to release. The copy of a writable view is used in the
            // tile's methods alone, on the tile's own elements.
            let view = unsafe { core::ptr::read(&self.view) };
            Some(ScheduledTile { view, index: self.locate(number, step, counts), borrow: PhantomData })
        })
    }

    /// The numbers of tiles along the axes; 1 beyond the rank.
    #[inline_on_device]
    fn counts(&self) -> [u64; MAXIMUM_RANK] {
        let count = |axis| if axis < E::RANK { self.view.num_tiles(axis).to_u64() } else { 1 };
        [count(0), count(1), count(2), count(3)]
    }

    /// The order, applied to as many axes as the view has: orders treat the first and the last axis differently.
    #[inline_on_device]
    fn locate(&self, number: u32, blocks: u32, [a, b, c, d]: [u32; MAXIMUM_RANK]) -> [u32; MAXIMUM_RANK] {
        match E::RANK {
            0 => [0; MAXIMUM_RANK],
            1 => [number, 0, 0, 0],
            2 => {
                let [i, j] = self.order.locate_among(number, blocks, [a, b]);
                [i, j, 0, 0]
            }
            3 => {
                let [i, j, k] = self.order.locate_among(number, blocks, [a, b, c]);
                [i, j, k, 0]
            }
            _ => self.order.locate_among(number, blocks, [a, b, c, d]),
        }
    }
}

impl<T: Element, E: Extents, A, M: Mapping, G: Alignment, S: Shape, B: Block, O: TileOrder, N>
    ScheduledTile<'_, TensorSpan<T, E, A, M, G>, S, B, O, N>
where
    A: TakesNames<InOrder<O>, N>,
{
    /// The number of the tile along axis `AXIS` of the view.
    ///
    /// [`PartitionView::schedule`] has an example.
    #[inline_on_device]
    pub fn axis<const AXIS: usize>(&self) -> u32 {
        const { assert!(AXIS < E::RANK, "this view has fewer axes") };
        self.index[AXIS]
    }

    /// The index for use within the view.
    #[inline_on_device]
    fn own(&self) -> Own<O> {
        Own(self.index, PhantomData)
    }

    /// Loads the tile, which must lie wholly inside the tensor: [`PartitionView::load`].
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [1_i32, 2, 3, 4];
    /// cpu::block_on_mut(&mut numbers, [4], |cx, span: SpanMut<i32, (u32,)>| {
    ///     for tile in span.partition(cx, shape![2]).schedule(cx, RowMajor).tiles() {
    ///         tile.store(tile.load() * 10);
    ///     }
    /// });
    /// assert_eq!(numbers, [10, 20, 30, 40]);
    /// ```
    ///
    /// # Panics
    ///
    /// If it does not (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn load(&self) -> Tile<T, S, Blocked<B>> {
        self.view.load(self.own())
    }

    /// Loads the tile, with `padding` outside the tensor: [`PartitionView::load_masked`].
    ///
    /// [`ScheduledTiles`] has an example.
    #[inline_on_device]
    #[track_caller]
    pub fn load_masked<P: Padding<T>>(&self, padding: P) -> Tile<T, S, Blocked<B>> {
        self.view.load_masked(padding, self.own())
    }

    /// Stores the tile, which must lie wholly inside the tensor: [`PartitionView::store`].
    ///
    /// [`load`](Self::load) has an example.
    ///
    /// # Panics
    ///
    /// If it does not (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    pub fn store<U, R, L>(&self, value: Tile<U, R, L>)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
    {
        self.view.store(value, self.own())
    }

    /// Stores the part of the tile that lies inside the tensor: [`PartitionView::store_masked`].
    ///
    /// [`ScheduledTiles`] has an example.
    #[inline_on_device]
    #[track_caller]
    pub fn store_masked<U, R, L>(&self, value: Tile<U, R, L>)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
    {
        self.view.store_masked(value, self.own())
    }
}
