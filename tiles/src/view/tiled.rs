//! A span cut into tiles of one shape: side by side, at steps, or at any element.

use super::index::TileIndex;
use super::located::{InMemory, IntoMemory, Located, Part};
use super::ownership::{NamedBy, TakesNames};
use super::padding::Padding;
use super::partition_check::assert_same_partition;
use super::transfer::{self, Cache};
use super::traversal::{AtElements, AtSteps, SideBySide, Traversal};
use crate::arch;
use crate::arch::messages::Failure;
use crate::context::Cx;
use crate::element::{Cast, Element, StoredAs};
use crate::layout::{Block, Blocked, HeldBy, Layout, Map};
use crate::registers::PowerOfTwo;
use crate::shape::{BroadcastsTo, MAXIMUM_RANK, Shape};
use crate::span::access::Writable;
use crate::span::extents::OffsetInteger;
use crate::span::{Access, Alignment, Extents, Mapping, TensorSpan};
use crate::tile::Tile;
use core::marker::PhantomData;

/// A span cut into tiles of shape `S`. The traversal `W` says where the tiles start.
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let mut numbers: Vec<i32> = (0..32).collect();
/// cpu::block_on_mut(&mut numbers, [4, 8], |cx, span: SpanMut<i32, (u32, u32)>| {
///     let view = span.partition(cx, shape![4, 4]);
///     for j in 0..view.num_tiles(1) {
///         let index = (cx.bid::<0>(), j);
///         view.store(view.load(index) * 10, index);
///     }
/// });
/// assert_eq!(numbers[31], 310);
/// ```
///
/// | view | made by | tile `i` starts at element |
/// |---|---|---|
/// | [`PartitionView`] | [`partition`](TensorSpan::partition) | `i` times the length of the tile |
/// | [`StridedView`] | [`strided`](TensorSpan::strided) | `i` times the step |
/// | [`WindowView`] | [`window`](TensorSpan::window) | `i`, which may be negative |
///
/// # Operations
///
/// | | |
/// |---|---|
/// | size, number of tiles | [`num_tiles`](Self::num_tiles) [`index_space`](Self::index_space) [`STEPS`](Self::STEPS) |
/// | load | [`load`](Self::load) [`load_masked`](Self::load_masked) |
/// | store | [`store`](Self::store) [`store_masked`](Self::store_masked) |
/// | copy to shared memory ahead of its use | [`tile`](Self::tile) |
/// | atomic load | [`atomic_load`](Self::atomic_load) [`atomic_load_masked`](Self::atomic_load_masked) |
/// | waiting for other blocks | [`atomic_wait`](Self::atomic_wait) |
/// | atomic store | [`atomic_store`](Self::atomic_store) [`atomic_store_masked`](Self::atomic_store_masked) |
/// | atomic sum | [`atomic_add`](Self::atomic_add) [`atomic_add_masked`](Self::atomic_add_masked) [`atomic_sub`](Self::atomic_sub) [`atomic_sub_masked`](Self::atomic_sub_masked) |
/// | atomic minimum, maximum | [`atomic_min`](Self::atomic_min) [`atomic_min_masked`](Self::atomic_min_masked) [`atomic_max`](Self::atomic_max) [`atomic_max_masked`](Self::atomic_max_masked) |
/// | atomic bits | [`atomic_and`](Self::atomic_and) [`atomic_and_masked`](Self::atomic_and_masked) [`atomic_or`](Self::atomic_or) [`atomic_or_masked`](Self::atomic_or_masked) [`atomic_xor`](Self::atomic_xor) [`atomic_xor_masked`](Self::atomic_xor_masked) |
/// | loop of a persistent grid | [`schedule`](Self::schedule) |
/// | `unsafe`: any tile of a writable span | [`load_masked_unowned`](Self::load_masked_unowned) [`store_masked_unowned`](Self::store_masked_unowned) |
/// | `unsafe`: no check | [`load_unchecked`](Self::load_unchecked) [`store_unchecked`](Self::store_unchecked) |
///
/// The [atomic operations of spans](TensorSpan#atomic-operations) give the elements as they were before.
///
/// # Edges
///
/// A tile at the edge lies partly outside the tensor. A plain load or store refuses it. `load_masked` pads the elements outside, and
/// `store_masked` leaves them out. Of a tile that lies wholly outside, a masked load gives padding alone, and a masked store stores
/// nothing.
///
/// # Values
///
/// A stored value has any shape that broadcasts to `S`. Its element type promotes to `T`, so that the conversion loses nothing of its kind:
/// [`StoredAs`].
///
/// # Writable spans
///
/// A block loads and stores its own tiles:
///
/// * The index contains the block index ([`Cx::bid`], [`Cx::tiles`]) of every grid axis.
/// * Tiles do not overlap.
/// * All indices of one view have the block index at the same places. The first index decides the places, and `N` remembers them. An
///   index that differs does not compile.
/// * All blocks cut a tensor into the same view, because they cut it before they know anything of their own.
///
/// A load sees earlier stores of the same block through any view of this type. A view of rank 0 has one tile, and its index names
/// no block: only a grid of one block may load or store it.
///
/// # Panics
///
/// A plain load or store checks its tile once. If the tile does not lie wholly inside the tensor, a GPU traps and the launch's stream
/// reports the index. The CPU panics. Both name the kernel's line.
///
/// # On a GPU
///
/// Loads give the layout [`Blocked`], and stores convert their value to it. A thread moves [`Block::Vector`] neighbouring elements, of up
/// to 16 bytes, by one instruction:
///
/// | operation | instruction for 16 bytes | section of the PTX ISA |
/// |---|---|---|
/// | load from a [`Span`](crate::span::Span) | `ld.global.nc.v4.b32` | "Data Movement and Conversion Instructions: ld.global.nc" |
/// | load from a [`SpanMut`](crate::span::SpanMut) | `ld.global.v4.b32` | "Data Movement and Conversion Instructions: ld" |
/// | store | `st.global.v4.b32` | "Data Movement and Conversion Instructions: st" |
///
/// A masked operation puts a predicate before each instruction. Atomic operations move single elements; their documentation names
/// the instructions.
///
/// # Alignment and width
///
/// The wide instruction needs aligned rows. [`Aligned<16>`](crate::span::Aligned) promises it of the first element, and an
/// extent [`Mult<u32, 4>`](crate::span::Mult) or `D<64>` of the others. A view without these promises asks at run time, and takes the
/// same wide instructions where they hold: tiles of several rows ask for the span once, tiles of one row for each tile. Rows that are
/// not aligned go by aligned chunks, whose elements the threads shift into place, or else element by element, and so do partial tiles of
/// rows that are no whole vectors.
///
/// If the contiguous axis is not the last one, as in a [`Left`](crate::span::Left) or permuted span, tiles are moved along the contiguous
/// axis. Registers or shared memory transpose them.
pub struct TiledView<X, S, B, W = SideBySide, N = ()> {
    pub(super) span: X,
    /// Whether the grid has one block.
    alone: bool,
    shape: PhantomData<(S, B, W, N)>,
}

/// A span cut into tiles side by side: tile `(i, j)` starts at element `(i * S0, j * S1)`. Indices count tiles.
///
/// [`TiledView`] has the operations. The worked example of CUDA Tile C++'s reference page, a 4 x 8 tensor in tiles of 2 x 2:
///
/// ```
/// use cuda_tiles::prelude::*;
/// # use cuda_tiles::cpu;
/// let numbers: Vec<i32> = (0..32).collect();
/// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
///     let tile = span.partition(cx, shape![2, 2]).load((1, 2));
///     assert_eq!([tile.at([0, 0]), tile.at([0, 1]), tile.at([1, 0]), tile.at([1, 1])], [20, 21, 28, 29]);
/// });
/// ```
pub type PartitionView<X, S, B, N = ()> = TiledView<X, S, B, SideBySide, N>;

/// A span cut into tiles at static steps `P`: tile `(i, j)` starts at element `(i * P0, j * P1)`.
///
/// Short steps make tiles overlap, and long steps leave gaps. Stores to a writable span need steps that are at least as long as the
/// tile. [`TensorSpan::strided`] has an example, and [`TiledView`] the operations.
pub type StridedView<X, S, P, B, N = ()> = TiledView<X, S, B, AtSteps<P>, N>;

/// Tiles of a span that start at any element: tile `(i, j)` starts at element `(i, j)`.
///
/// The index is signed. A masked load may reach over the low edge of the tensor as well as over the high edge.
/// [`TensorSpan::window`] has an example, and [`TiledView`] the operations.
pub type WindowView<X, S, B, N = ()> = TiledView<X, S, B, AtElements, N>;

impl<X: Copy, S, B, W, N> Clone for TiledView<X, S, B, W, N> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<X: Copy, S, B, W, N> Copy for TiledView<X, S, B, W, N> {}

impl<T, E, A, M, G, S, B, W, N> TiledView<TensorSpan<T, E, A, M, G>, S, B, W, N>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    pub(super) const CACHE: Cache = if A::CONSTANT { Cache::Constant } else { Cache::Ordinary };

    #[inline_on_device]
    #[track_caller]
    pub(crate) fn new(span: TensorSpan<T, E, A, M, G>, cx: Cx<B>) -> Self
    where
        A: NamedBy<N>,
    {
        cx.assert_current();
        span.assert_lent();
        assert_same_partition::<T, E, A, M, G, S, B, W, N>(&span, cx);
        let alone = E::RANK > 0 || (0..3).all(|axis| cx.num_blocks(axis) == 1);
        Self { span, alone, shape: PhantomData }
    }

    /// The view of a span in a list that has been cut.
    #[inline_on_device]
    pub(super) fn of_item(span: TensorSpan<T, E, A, M, G>) -> Self {
        Self { span, alone: false, shape: PhantomData }
    }

    /// The number of tiles along `axis` that start inside the tensor, partial ones included.
    ///
    /// It is a `u32`, or a `u64` where an extent is one.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[0_u8; 44], [4, 11], |cx, span: Span<u8, (u32, u32)>| {
    ///     let view = span.partition(cx, shape![2, 4]);
    ///     assert_eq!((view.num_tiles(0), view.num_tiles(1)), (2, 3));
    ///     assert_eq!(view.index_space(), [2, 3, 1, 1]);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If `axis` is not below the rank (on the device: traps).
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("ceildiv"))]
    pub fn num_tiles(&self, axis: usize) -> E::Offset {
        let length = self.span.extent(axis).to_u64();
        let step = const { W::STEPS }[axis];
        if step.is_power_of_two() {
            return E::Offset::from_u64((length >> step.ilog2()) + u64::from(length & (step - 1) != 0));
        }
        E::Offset::from_u64(length.div_ceil(step))
    }

    /// The numbers of tiles along all axes; 1 beyond the rank.
    ///
    /// [`num_tiles`](Self::num_tiles) has an example.
    #[inline_on_device]
    pub fn index_space(&self) -> [E::Offset; MAXIMUM_RANK] {
        let mut space = [E::Offset::from_u64(1); MAXIMUM_RANK];
        let mut axis = 0;
        while axis < E::RANK {
            space[axis] = self.num_tiles(axis);
            axis += 1;
        }
        space
    }

    /// Elements between the starts of neighbouring tiles along each axis; 1 beyond the rank.
    pub const STEPS: [u64; MAXIMUM_RANK] = W::STEPS;

    /// Loads tile `index`, which must lie wholly inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on(&numbers, [4, 8], |cx, span: Span<i32, (u32, u32)>| {
    ///     let tile = span.partition(cx, shape![2, 4]).load((1, 0));
    ///     assert_eq!((tile.at([0, 0]), tile.at([1, 3])), (16, 27));
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If the tile does not lie wholly inside (on the device: traps, and the launch's stream reports it).
    ///
    /// # On a GPU
    ///
    /// The tile has the layout [`Blocked`]. A thread loads a vector of up to 16 bytes by `ld.global.nc.v4.b32`, and by `ld.global.v4.b32` from
    /// a writable span (PTX ISA, "Data Movement and Conversion Instructions: ld.global.nc" and "ld"). Narrower vectors are
    /// `.v2.b32`, `.b32`, `.b16` and `.b8`. [Alignment and width](TiledView#alignment-and-width) says which vector it is.
    #[inline_on_device]
    #[track_caller]
    pub fn load<I: TileIndex<E::Rank>>(&self, index: I) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        const { Self::plain_access_is_legal::<I>() };
        self.assert_alone();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("load", index);
        }
        // SAFETY: the tile lies inside the tensor, as just checked.
        transfer::ordered::<B, A, _>(|| unsafe { self.load_inside(&located) })
    }

    /// Loads tile `index` without a check.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// cpu::block_on(&[1, 2, 3, 4], [4], |cx, span: Span<i32, (u32,)>| {
    ///     // SAFETY: two tiles of two elements fit the tensor, which nothing writes.
    ///     let tile = unsafe { span.partition(cx, shape![2]).load_unchecked(1) };
    ///     assert_eq!(tile.at([0]), 3);
    /// });
    /// ```
    ///
    /// # Safety
    ///
    /// * The tile lies wholly inside the tensor.
    /// * No other block writes the tile during the kernel.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("unchecked_accesses"))]
    pub unsafe fn load_unchecked<I: TileIndex<E::Rank>>(&self, index: I) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        let located = self.locate(index);
        // SAFETY: the caller vouches for it.
        transfer::ordered::<B, A, _>(|| unsafe { self.load_inside(&located) })
    }

    /// Loads tile `index`, with `padding` in place of elements outside the tensor.
    ///
    /// A 4 x 11 tensor in tiles of 2 x 4, padded with NaN:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let numbers: Vec<f32> = (0..44).map(|x| x as f32).collect();
    /// cpu::block_on(&numbers, [4, 11], |cx, span: Span<f32, (u32, u32)>| {
    ///     let tile = span.partition(cx, shape![2, 4]).load_masked(Nan, (0, 2));
    ///     assert_eq!([tile.at([0, 0]), tile.at([0, 2]), tile.at([1, 0])], [8.0, 10.0, 19.0]);
    ///     assert!(tile.at([0, 3]).is_nan() && tile.at([1, 3]).is_nan());
    /// });
    /// ```
    ///
    /// # On a GPU
    ///
    /// The layout and the instructions of [`load`](Self::load), each with a predicate. Where the predicate is false, the padding stays in the
    /// register.
    #[inline_on_device]
    #[track_caller]
    #[doc(alias("boundary_check"))]
    pub fn load_masked<P: Padding<T>, I: TileIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        const { Self::plain_access_is_legal::<I>() };
        let _ = const { P::VALUE };
        self.assert_alone();
        // SAFETY: nothing writes the tensor, or the index is this block's own.
        unsafe { self.load_masked_unowned(padding, index) }
    }

    /// Loads any tile of a writable span, as [`load_masked`](Self::load_masked) does. Bounds are checked, the owner of the tile is not.
    ///
    /// # Safety
    ///
    /// No other block writes the tile's elements inside the tensor during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn load_masked_unowned<P: Padding<T>, I: TileIndex<E::Rank>>(
        &self,
        padding: P,
        index: I,
    ) -> Tile<T, S, Blocked<B>>
    where
        A: TakesNames<I::Naming, N>,
    {
        let _ = (padding, const { P::VALUE });
        let located = self.locate(index);
        // SAFETY: the caller vouches for elements inside the tensor.
        transfer::ordered::<B, A, _>(|| unsafe { self.load_part(&located, P::VALUE) })
    }

    /// The tile with its elements in the order of memory.
    #[inline_on_device]
    fn in_memory_order(tile: Tile<T, S, Blocked<B>>) -> Tile<T, S, Blocked<B>> {
        if const { InMemory::<S, M>::REORDERED } {
            tile.moved::<S, Blocked<B>, IntoMemory<M>>()
        } else {
            tile
        }
    }

    /// Plain access to a writable span is for the tiles of this block, and to an atomic one for nobody.
    const fn plain_access_is_legal<I: TileIndex<E::Rank>>() {
        assert!(
            A::CONSTANT || A::OWNED,
            "an atomic span has atomic loads and stores only: use atomic_load, atomic_store, or declare the argument as SpanMut"
        );
        Self::tile_is_named::<I, true>();
    }

    /// The tile of a view of rank 0 has no name: no other block may be there.
    #[inline_on_device]
    #[track_caller]
    fn assert_alone(&self) {
        if E::RANK == 0 && A::OWNED && !self.alone {
            arch::execution::fail(|text| {
                write!(
                    text,
                    "blocks share the element of a writable tensor of rank 0: launch one block, or give the tensor an axis"
                )
            });
        }
    }

    /// `I` names a tile of this block alone, if the access mode wants that. With `ALONE`, the tile of a view of rank 0 needs no
    /// name, as the grid is checked.
    pub(super) const fn tile_is_named<I: TileIndex<E::Rank>, const ALONE: bool>() {
        let all = (1 << B::GRID_RANK) - 1;
        assert!(
            !A::OWNED || W::DISJOINT,
            "tiles of a writable span must not overlap: the steps of its view are at least as long as the tile along \
             every axis; use a SpanAtomic where blocks share elements"
        );
        assert!(
            !A::OWNED || ALONE && E::RANK == 0 || I::OWNED_AXES & all == all,
            "a tile of a writable span is named by an index that contains the block's own: cx.bid::<0>(), and with \
             `grid = 2` also cx.bid::<1>(); another block may be writing any other tile"
        );
    }

    #[cold]
    #[inline_on_device]
    #[track_caller]
    pub(super) fn fail_bounds<I: TileIndex<E::Rank>>(&self, operation: &'static str, index: I) -> ! {
        let mut failure = Failure::new(operation, W::OUTSIDE);
        let (index, extents) = (index.signed(), self.span.extents.get());
        failure.list(E::RANK, |axis| index[axis] as u64);
        failure.list(E::RANK, |axis| 1 << S::DESCRIPTION.log[axis]);
        failure.list(E::RANK, |axis| extents[axis]);
        failure.end()
    }
}

/// Stores.
///
/// The value may have any element type that converts without loss of kind (the promotion of both is the tensor's
/// type) and any shape that broadcasts to the view's.
impl<T, E, A, M, G, S, B, W, N> TiledView<TensorSpan<T, E, A, M, G>, S, B, W, N>
where
    T: Element,
    E: Extents,
    A: Access,
    M: Mapping,
    G: Alignment,
    S: Shape,
    B: Block,
    W: Traversal<S>,
{
    /// Stores `value` as tile `index`, which must lie wholly inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers: Vec<i32> = (0..32).collect();
    /// cpu::block_on_mut(&mut numbers, [4, 8], |cx, span: SpanMut<i32, (u32, u32)>| {
    ///     let view = span.partition(cx, shape![2, 8]);
    ///     view.store(cx.iota::<i32>(shape![2, 8]) * 100, (cx.bid::<0>(), 0));
    /// });
    /// assert_eq!(numbers[..3], [0, 100, 200]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the tile does not lie wholly inside (on the device: traps, and the launch's stream reports it).
    ///
    /// # On a GPU
    ///
    /// The value is converted to the layout [`Blocked`]. A thread stores a vector of up to 16 bytes by `st.global.v4.b32` (PTX ISA, "Data
    /// Movement and Conversion Instructions: st"). [Alignment and width](TiledView#alignment-and-width) says which vector it is.
    #[inline_on_device]
    #[track_caller]
    pub fn store<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        const { Self::plain_access_is_legal::<I>() };
        self.assert_alone();
        let located = self.locate(index);
        if !located.whole {
            self.fail_bounds("store", index);
        }
        // SAFETY: the tile lies inside the tensor, as just checked, and the index is this block's own.
        unsafe { self.store_inside(value, &located) }
    }

    /// Stores `value` as tile `index` without a check.
    ///
    /// # Safety
    ///
    /// * The tile lies wholly inside the tensor.
    /// * No other block accesses the tile during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn store_unchecked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        let located = self.locate(index);
        // SAFETY: the caller vouches for it.
        unsafe { self.store_inside(value, &located) }
    }

    /// Stores those elements of `value` as tile `index` that lie inside the tensor.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0_i32; 5];
    /// cpu::block_on_mut(&mut numbers, [5], |cx, span: SpanMut<i32, (u32,)>| {
    ///     span.partition(cx, shape![8]).store_masked(cx.full(shape![8], 7), cx.bid::<0>());
    /// });
    /// assert_eq!(numbers, [7; 5]);
    /// ```
    ///
    /// # On a GPU
    ///
    /// The layout and the instructions of [`store`](Self::store), each with a predicate.
    #[inline_on_device]
    #[track_caller]
    pub fn store_masked<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        const { Self::plain_access_is_legal::<I>() };
        self.assert_alone();
        // SAFETY: the index is this block's own.
        unsafe { self.store_masked_unowned(value, index) }
    }

    /// Stores any tile, as [`store_masked`](Self::store_masked) does. Bounds are checked, the owner of the tile is not.
    ///
    /// It is for blocks that know their tiles from data, such as ragged copies and the outputs of experts. Here data cut a list into
    /// pieces, and each piece is stored from its beginning:
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    /// # use cuda_tiles::cpu;
    /// let mut numbers = [0u32; 7];
    /// cpu::block_on_mut(&mut numbers, [7], |cx, span: SpanMut<u32, (u32,)>| {
    ///     let view = span.window(cx, shape![4]);
    ///     for (piece, first) in [(1u32, 0), (2, 3), (3, 5)] {
    ///         // SAFETY: this is the only block.
    ///         unsafe { view.store_masked_unowned(cx.full(shape![4], piece), first) }
    ///     }
    /// });
    /// assert_eq!(numbers, [1, 1, 1, 2, 2, 3, 3]);
    /// ```
    ///
    /// # Safety
    /// No other block accesses the tile's elements inside the tensor during the kernel.
    #[inline_on_device]
    #[track_caller]
    pub unsafe fn store_masked_unowned<U, R, L, I>(&self, value: Tile<U, R, L>, index: I)
    where
        A: Writable,
        U: StoredAs<T>,
        R: BroadcastsTo<S>,
        L: HeldBy<B>,
        I: TileIndex<E::Rank>,
        A: TakesNames<I::Naming, N>,
    {
        let located = self.locate(index);
        let part = Part::new::<InMemory<S, M>, Blocked<B>>(&located);
        let contains = |i| Some(part.contains::<InMemory<S, M>, Blocked<B>>(i));
        let value = Self::in_memory_order(value.cast::<T>().spread());
        if located.aligned && self.has_whole_vectors(&located) {
            // SAFETY: vectors inside the tensor are stored, whole and aligned; the others are not. The caller vouches
            // for the rest.
            unsafe { self.store_vectors(value, &part, Self::VECTOR, contains) }
        } else if arch::TILES_IN_REGISTERS && Self::stores_by_chunks() {
            // SAFETY: the part is that of the located tile, and the caller vouches for the rest.
            unsafe { self.store_chunks(value, &located, &part) }
        } else {
            // SAFETY: elements inside the tensor are stored, the others are not. The caller vouches for the rest.
            unsafe { self.store_vectors(value, &part, 1, contains) }
        }
    }

    /// # Safety
    /// The tile lies inside the tensor and belongs to this block.
    #[inline_on_device]
    unsafe fn store_inside<U, R, L>(&self, value: Tile<U, R, L>, located: &Located<T, E>)
    where
        U: Cast<T>,
        R: Shape,
        L: Layout<Block = B>,
    {
        let part = Part::new::<InMemory<S, M>, Blocked<B>>(located);
        let value = Self::in_memory_order(value.cast::<T>().spread());
        if located.aligned {
            // SAFETY: the same contract; the vectors are aligned.
            unsafe { self.store_vectors(value, &part, Self::VECTOR, |_| None) }
        } else if arch::TILES_IN_REGISTERS && Self::stores_by_chunks() {
            // SAFETY: the same contract; the part is that of the located tile.
            unsafe { self.store_chunks(value, located, &part) }
        } else {
            // SAFETY: the same contract; an element is always aligned to itself.
            unsafe { self.store_vectors(value, &part, 1, |_| None) }
        }
    }

    /// Stores the registers, whose elements are in the order of memory, by `vector` at a time, those for which `condition`
    /// is not `Some(false)`.
    ///
    /// # Safety
    /// Vectors that are stored lie inside the tensor, are aligned, and belong to this block.
    #[inline_on_device]
    unsafe fn store_vectors(
        &self,
        value: Tile<T, S, Blocked<B>>,
        part: &Part<T, E>,
        vector: usize,
        condition: impl Fn(usize) -> Option<bool>,
    ) {
        // Of threads that hold copies of an element one stores it.
        if arch::execution::thread() & const { Map::<Blocked<B>, S>::MAP.replicas } != 0 {
            return;
        }
        <<Blocked<B> as Layout>::Registers<S>>::unroll(0, vector, &mut |i| {
            // SAFETY: the caller's contract; registers `i..i + vector` are neighbours in memory, and each element
            // has one thread that stores it.
            unsafe {
                transfer::store(part.address::<InMemory<S, M>, Blocked<B>>(i), vector, condition(i), |k| {
                    value.registers().get(i + k)
                })
            }
        });
    }
}
