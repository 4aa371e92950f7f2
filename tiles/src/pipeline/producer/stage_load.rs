//! Loads: how tiles of tensors get into stages.

use crate::arch::barriers::{self, PRODUCER_WARP};
use crate::arch::threads::{self, Address};
use crate::arch::{bulk, execution};
use crate::element::Element;
use crate::layout::Block;
use crate::memory::shared_tile::{ALIGNMENT, CHUNK_BYTES, Geometry, SharedTile, SharedTileShape};
use crate::memory::stage_layout::StageLayout;
use crate::memory::tensor_map::{Matrix, TmaLoad};
use crate::pipeline::producer::copiers::{Copiers, ThreadsOfBlock};
use crate::pipeline::producer::sharing::{Owned, PlaceInCluster};
use crate::registers::PowerOfTwo;
use crate::sealed::{Sealed, sealed};
use crate::shape::Dimension;
use core::marker::PhantomData;

/// A tile of a [`TmaLoad`], identified by its position and not loaded yet.
pub struct LoadTile<T: Element, S> {
    pub(crate) matrix: Matrix<T>,
    pub(crate) batch: u32,
    /// The tile's first row and column, in elements.
    pub(crate) row: u32,
    pub(crate) column: u32,
    /// Whether elements outside the tensor may have any value: in rows outside, and in columns outside.
    pub(crate) unset: [bool; 2],
    /// Whether its stage keeps what it has.
    pub(crate) kept: bool,
    pub(crate) owned: Owned,
    pub(crate) shape: PhantomData<S>,
}

impl<T: Element, S> LoadTile<T, S> {
    /// The tile, in which rows outside the tensor may have any elements instead of zeros.
    ///
    /// For operand A of a product, or for a transposed operand B: their rows outside belong to rows and columns outside the result.
    ///
    /// # On a GPU
    ///
    /// TMA takes several times as long for a row outside a tensor as for a row inside. So it does not load rows that are outside.
    /// *Measured* on an H200: a tile of 128 x 64 elements of `f16` with 10 rows inside and zeros outside takes 0.65 µs, and a whole tile
    /// 0.4 µs.
    #[inline_on_device]
    #[must_use = "the result is another tile"]
    pub fn unset_outside_rows(self) -> Self {
        let [_, columns] = self.unset;
        Self { unset: [true, columns], ..self }
    }

    /// The tile, in which columns outside the tensor may have any elements instead of zeros. See
    /// [`unset_outside_rows`](Self::unset_outside_rows). TMA leaves out boxes of up to 128 bytes of columns that are all outside.
    #[inline_on_device]
    #[must_use = "the result is another tile"]
    pub fn unset_outside_columns(self) -> Self {
        let [rows, _] = self.unset;
        Self { unset: [rows, true], ..self }
    }

    /// The tile, which is not loaded if `is_kept`: its place in the stage keeps the elements that it has.
    ///
    /// For an operand that all k loops of a block share. [`Ring::with_rounds_of`](crate::pipeline::Ring::with_rounds_of) says from which k
    /// loop on each stage has the tile of its step. In a stage that has another tile or none, the tile has any elements.
    ///
    /// # On a GPU
    ///
    /// The tile takes no time of TMA. *Measured* on an H200: a product of 238704 x 16 x 336, whose small operand stays, takes 48 µs instead
    /// of 89. The CPU and targets without TMA load the tile.
    #[inline_on_device]
    #[must_use = "the result is another tile"]
    pub fn kept(self, is_kept: bool) -> Self {
        // This is safe for any tile. Nobody but TMA writes a stage, and TMA writes nothing here: consumers that read it meet no writer. All
        // bit patterns are elements. The barrier `full` of a stage without bytes completes with the producer's arrival.
        Self { kept: PRODUCER_WARP && is_kept, ..self }
    }

    /// The tile of the first block of a cluster, of which each row of blocks (`BLOCKS` = 0) or each column of blocks (`BLOCKS` = 1) has its
    /// own: that of the next one is the next tile along `AXIS`, 0 below it and 1 to the right.
    ///
    /// All other blocks of a cluster have the same tile: it comes from memory once for all of them. Without clusters this changes nothing.
    /// [`#[kernel]`](crate::kernel) says what clusters are.
    ///
    /// ```
    /// use cuda_tiles::prelude::*;
    ///
    /// /// `c = a b'`: the blocks of a cluster have tiles of `c` one below the other, and share those of `b`.
    /// #[kernel(threads = 128, producer = 32, cluster = [2, 1], targets = warpgroups)]
    /// pub fn product(
    ///     roles: WarpRoles,
    ///     a: TmaLoad<f16, Shape2<64, 64>>,
    ///     b: TmaLoad<f16, Shape2<128, 64>>,
    ///     c: TmaStore<f16, Shape2<64, 128>>,
    ///     #[shared] ring: Ring<(SharedTile<f16, Shape2<64, 64>>, SharedTile<f16, Shape2<128, 64>>)>,
    ///     #[shared] mut buffer: EpilogueBuffer<1>,
    /// ) {
    ///     let steps = a.tile_counts().1;
    ///     let loads = roles.tile_indices(Grouped::<16>, c.tile_counts()).flat_map(move |[_, i, j]| {
    ///         a.row(i).map(|a| a.for_each_block::<0, 0>()).zip(b.row(j))
    ///     });
    ///     roles.pipeline(ring, loads, move |cx, mut consumer| {
    ///         for tile in c.schedule(cx, Grouped::<16>) {
    ///             let acc = consumer.k_loop(steps).accumulate(|acc, (a, b)| acc.mma(a, b.transposed()));
    ///             tile.store(&mut buffer, acc.cast());
    ///         }
    ///     });
    /// }
    /// ```
    ///
    /// # On a GPU
    ///
    /// The producers of the blocks that have the same tile copy a part of it each to all of them (PTX ISA, "cp.async.bulk.tensor",
    /// `.multicast::cluster`).
    #[inline_on_device]
    #[must_use = "the result is another tile"]
    pub fn for_each_block<const BLOCKS: usize, const AXIS: usize>(self) -> Self {
        const {
            assert!(BLOCKS < 2, "a cluster has two axes: 0, from one row of blocks to the next, and 1");
            assert!(AXIS < 2, "tiles have two axes: 0, from one row to the next, and 1");
        }
        Self { owned: self.owned.with(BLOCKS, AXIS), ..self }
    }
}

impl<T: Element, S> Clone for LoadTile<T, S> {
    #[inline_on_device]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S> Copy for LoadTile<T, S> {}

// SAFETY: it refers to memory that nothing writes while the kernel runs.
unsafe impl<T: Element, S> Send for LoadTile<T, S> {}

/// A load that fills a stage with layout `P`: a tile of a [`TmaLoad`] or of a [`Span`](crate::span::Span) for a [`SharedTile`] of the same
/// element type and shape, or a tuple of such tiles for a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fill a stage `{P}` of the ring",
    label = "not the tiles that the stages of the ring have room for",
    note = "the producer loads one tile for each `SharedTile<T, S>` of the ring, of the same element type and shape: `a.row(i).zip(b.column(j))`"
)]
pub trait StageLoad<P: StageLayout>: Sealed + Copy + Send {
    /// Whether producer threads copy some of the tiles, where there are producer warps. TMA copies all others.
    #[doc(hidden)]
    const BY_THREADS: bool;

    /// The tiles that the block in row `block[0]` and column `block[1]` of a cluster has, if these are the first block's.
    #[doc(hidden)]
    fn of_block(self, block: [u32; 2]) -> Self;

    /// Copies the tiles to `target` by TMA, `cp.async.bulk.tensor`. Their bytes count towards the barrier `full`.
    ///
    /// As the producer in this place of a cluster it copies the block's own tiles, and its part of the tiles that the block shares with
    /// others to all of them.
    ///
    /// # Safety
    /// There is room for the stage at `target`, in each of the blocks. Nobody accesses it before the phase of that block's barrier is
    /// complete.
    #[doc(hidden)]
    unsafe fn copy_by_tma<B: Block>(self, target: Address, full: Address, producer: PlaceInCluster);

    /// The bytes that come to the block, from all producers of its cluster that [copy](Self::copy_by_tma) to it.
    #[doc(hidden)]
    fn bytes_by_tma<B: Block>(&self) -> u32;

    /// Starts to copy the tiles that TMA does not: each of the threads its part, by `cp.async` or by ordinary stores.
    ///
    /// # Safety
    /// All of the threads execute this same call. There is room for the stage at `target`. Nobody accesses it before all of them have
    /// waited for their copies.
    #[doc(hidden)]
    unsafe fn copy_by_producers<X: Copiers>(self, target: Address);

    /// Where each thread of a block without producer warps starts to copy whole tiles.
    #[doc(hidden)]
    type Start: Copy;

    /// Whether all tiles are whole: inside their tensors, and of a shape that [`copy_from`](Self::copy_from) copies.
    #[doc(hidden)]
    fn are_whole<B: Block>(&self) -> bool;

    /// Where the copies to `target` start. This is arithmetic alone, computed here, so that it runs beside the multiplications
    /// that come next.
    #[doc(hidden)]
    fn start<B: Block>(self, target: Address) -> Self::Start;

    /// Starts to copy tiles that are all whole.
    ///
    /// # Safety
    /// The tiles [are whole](Self::are_whole). There is room for the stage at the copies' target. Nobody accesses the room
    /// before the copies are waited for.
    #[doc(hidden)]
    unsafe fn copy_from<B: Block>(start: Self::Start);

    /// Starts to copy tiles to `target` that are not all whole.
    ///
    /// # Safety
    /// There is room for the stage at `target`. Nobody accesses it before the copies are waited for.
    #[doc(hidden)]
    unsafe fn copy_with_edges<B: Block>(self, target: Address);
}

/// Where a thread starts to copy a tile.
#[derive(Clone, Copy)]
pub struct CopyStart {
    source: *const u8,
    target: Address,
    /// Bytes from a row of the tensor to the next.
    pitch: usize,
}

impl<T: Element, R: Dimension, C: Dimension> StageLoad<SharedTile<T, (R, C)>> for LoadTile<T, (R, C)> {
    const BY_THREADS: bool = false;

    #[inline_on_device]
    fn of_block(self, block: [u32; 2]) -> Self {
        let (rows, columns) = const { (R::LENGTH as u32, C::LENGTH as u32) };
        Self {
            row: self.row + self.owned.distance(0, block) * rows,
            column: self.column + self.owned.distance(1, block) * columns,
            ..self
        }
    }

    #[inline_on_device]
    unsafe fn copy_by_tma<B: Block>(self, target: Address, full: Address, producer: PlaceInCluster) {
        let (mask, [own, sharers]) = producer.among_sharers(self.owned);
        self.for_each_box::<B>(|number, offset, [row, column], rows| {
            let (target, place) = (threads::offset(target, offset), [column, row, self.batch]);
            let is_last = rows < const { Self::BOX_ROWS };
            let map = self.matrix.map.wrapping_add(usize::from(is_last)).cast();
            // SAFETY: the map's box is rows of a panel, all of which are inside the tensor if the box is the last; the target has room for
            // it by the caller's contract, in each block. Stages are aligned for any swizzle. Columns are multiples of a panel's bytes, at
            // least 16.
            unsafe {
                if sharers == 1 {
                    bulk::load(target, map, full, place);
                } else if number % sharers == own {
                    bulk::load_multicast(target, map, full, place, mask);
                }
            }
        });
    }

    #[inline_on_device]
    fn bytes_by_tma<B: Block>(&self) -> u32 {
        self.bytes_of_boxes::<B>()
    }

    #[inline_on_device]
    unsafe fn copy_by_producers<X: Copiers>(self, _target: Address) {}

    type Start = CopyStart;

    #[inline_on_device]
    fn are_whole<B: Block>(&self) -> bool {
        let by_columns = const { by_columns::<T, R, C, ThreadsOfBlock<B>>(CHUNK_BYTES) };
        let (rows, columns) = const {
            (Self::GEOMETRY.rows as u32, (Self::GEOMETRY.panels * Self::GEOMETRY.panel_columns()) as u32)
        };
        let layout = &self.matrix.layout;
        // Coordinates are at most a tile above `BEYOND`. Without branches: see `StageLoad::start`.
        by_columns
            & (self.row.wrapping_add(rows) <= layout.rows)
            & (self.column.wrapping_add(columns) <= layout.columns)
            & (self.batch < layout.batches)
    }

    #[inline_on_device]
    #[track_caller]
    fn start<B: Block>(self, target: Address) -> CopyStart {
        self.matrix.assert_lent();
        let row_chunks = const { chunks::<T, R, C>() }.0;
        let size = const { size_of::<T::Bits>() };
        let place = const { Self::GEOMETRY }
            .offset(execution::thread() / row_chunks, execution::thread() % row_chunks * CHUNK_BYTES);
        // The multiplications need the registers. The thread keeps one number, and computes the rest for each tile.
        let own = execution::rematerialise(place as u32) as usize;
        let thread = execution::rematerialise(execution::thread() as u32);
        let (row, chunk) = (thread / row_chunks as u32, thread % row_chunks as u32);
        let pitch = self.matrix.layout.row_pitch as usize * size;
        let byte = self.column as usize * size + chunk as usize * CHUNK_BYTES;
        let source = self.matrix().wrapping_add(self.row.wrapping_add(row) as usize * pitch + byte);
        CopyStart {
            source: execution::anew_pointer(source),
            target: threads::rematerialise(threads::offset(target, own)),
            pitch,
        }
    }

    #[inline_on_device]
    unsafe fn copy_from<B: Block>(start: CopyStart) {
        if const { !by_columns::<T, R, C, ThreadsOfBlock<B>>(CHUNK_BYTES) } {
            return;
        }
        let (row_chunks, all) = const { chunks::<T, R, C>() };
        let rows = const { <B::Threads as PowerOfTwo>::COUNT } / row_chunks;
        let mut source = start.source;
        let mut first = 0;
        while first < all / row_chunks {
            // The swizzle of a stage repeats after `ALIGNMENT` bytes of a panel.
            let target = if const { rows_repeat::<T, R, C, B>() } {
                threads::offset(start.target, first * const { Self::GEOMETRY.panel_bytes })
            } else {
                let (row, chunk) = (execution::thread() / row_chunks, execution::thread() % row_chunks);
                let place = |row| const { Self::GEOMETRY }.offset(row, chunk * CHUNK_BYTES);
                threads::offset(start.target, place(first + row).wrapping_sub(place(row)))
            };
            // SAFETY: the chunk is inside the tensor, as the tile is whole. Rows and pitches are multiples of 16 bytes, which
            // the launch has checked. The target has room by the caller's contract. Each chunk has one thread.
            unsafe { barriers::copy_16_whole(target, source) };
            source = source.wrapping_add(start.pitch * rows);
            first += rows;
        }
    }

    #[inline_on_device]
    unsafe fn copy_with_edges<B: Block>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe { self.copy_what_is_inside::<B>(target) }
    }
}

/// The number of 16-byte chunks in a row of a tile, and in the tile.
pub(super) const fn chunks<T: Element, R: Dimension, C: Dimension>() -> (usize, usize) {
    let geometry = <SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY;
    let row = geometry.panels * geometry.panel_bytes / CHUNK_BYTES;
    (row, row * geometry.rows)
}

/// Whether the threads copy whole rows at once, so that each thread copies a column of units of `unit` bytes.
pub(super) const fn by_columns<T: Element, R: Dimension, C: Dimension, X: Copiers>(unit: usize) -> bool {
    let geometry = <SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY;
    let row = geometry.panels * geometry.panel_bytes / unit;
    let threads = X::THREADS;
    row <= threads && threads.is_multiple_of(row) && (row * geometry.rows).is_multiple_of(threads)
}

impl<T: Element, R: Dimension, C: Dimension> LoadTile<T, (R, C)> {
    pub(super) const GEOMETRY: Geometry = <SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY;
    /// The address of its matrix.
    #[inline_on_device]
    fn matrix(&self) -> *const u8 {
        let size = const { size_of::<T::Bits>() as u64 };
        let offset = u64::from(self.batch) * self.matrix.layout.batch_pitch * size;
        self.matrix.pointer.cast::<u8>().cast_const().wrapping_add(offset as usize)
    }

    /// Starts to copy a tile that reaches beyond the tensor, chunk by chunk.
    ///
    /// # Safety
    /// As for [`StageLoad::copy_with_edges`].
    #[inline_on_device]
    #[track_caller]
    unsafe fn copy_what_is_inside<B: Block>(self, target: Address) {
        self.matrix.assert_lent();
        let (row_chunks, all) = const { chunks::<T, R, C>() };
        let threads = const { <B::Threads as PowerOfTwo>::COUNT };
        let layout = &self.matrix.layout;
        let size = const { size_of::<T::Bits>() as u64 };
        let row_bytes = u64::from(layout.columns) * size;
        let matrix = self.matrix();
        // The loop must not be unrolled, and nothing of it may be kept in registers elsewhere: it runs for tiles at edges
        // alone.
        let mut number = execution::rematerialise(execution::thread() as u32) as usize;
        while number < execution::rematerialise(all as u32) as usize {
            let (row, chunk) = (number / row_chunks, number % row_chunks);
            let (source_row, byte) = (
                self.row.saturating_add(row as u32),
                u64::from(self.column) * size + (chunk * CHUNK_BYTES) as u64,
            );
            let inside = if source_row < layout.rows && self.batch < layout.batches {
                row_bytes.saturating_sub(byte).min(CHUNK_BYTES as u64) as u32
            } else {
                0
            };
            // A chunk outside the tensor is filled with zeros. Its source is a valid address nevertheless.
            let offset = if inside == 0 { 0 } else { u64::from(source_row) * layout.row_pitch * size + byte };
            let place = const { Self::GEOMETRY }.offset(row, chunk * CHUNK_BYTES);
            // SAFETY: the first `inside` bytes are elements of the tensor. Rows and pitches are multiples of 16 bytes, which
            // the launch has checked. The target has room by the caller's contract. Each chunk has one thread.
            unsafe {
                barriers::copy_16(
                    threads::offset(target, place),
                    matrix.wrapping_add(offset as usize),
                    inside,
                )
            };
            number += threads;
        }
    }
}

/// Whether the swizzle of a stage repeats after the rows that the block's threads copy at once.
const fn rows_repeat<T: Element, R: Dimension, C: Dimension, B: Block>() -> bool {
    let rows = <B::Threads as PowerOfTwo>::COUNT / chunks::<T, R, C>().0;
    (rows * LoadTile::<T, (R, C)>::GEOMETRY.panel_bytes).is_multiple_of(ALIGNMENT)
}

macro_rules! fills {
    ($($($stage:ident $tile:ident $index:tt)*;)*) => { $(
        impl<$($stage: StageLayout, $tile: StageLoad<$stage>),*> StageLoad<($($stage,)*)> for ($($tile,)*) {
            const BY_THREADS: bool = false $(|| $tile::BY_THREADS)*;
            #[inline_on_device]
            fn of_block(self, block: [u32; 2]) -> Self {
                ($(self.$index.of_block(block),)*)
            }
            #[inline_on_device]
            unsafe fn copy_by_tma<BL: Block>(self, target: Address, full: Address, producer: PlaceInCluster) {
                let mut next = 0;
                $(
                    // SAFETY: the tiles of a stage lie one behind the other.
                    unsafe { self.$index.copy_by_tma::<BL>(threads::offset(target, next), full, producer) };
                    next += $stage::ROOM;
                )*
                let _ = next;
            }
            #[inline_on_device]
            fn bytes_by_tma<BL: Block>(&self) -> u32 {
                0 $(+ self.$index.bytes_by_tma::<BL>())*
            }
            #[inline_on_device]
            #[track_caller]
            unsafe fn copy_by_producers<BY: Copiers>(self, target: Address) {
                let mut next = 0;
                $(
                    // SAFETY: as above.
                    unsafe { self.$index.copy_by_producers::<BY>(threads::offset(target, next)) };
                    next += $stage::ROOM;
                )*
                let _ = next;
            }
            type Start = ($($tile::Start,)*);
            #[inline_on_device]
            fn are_whole<BL: Block>(&self) -> bool {
                true $(& self.$index.are_whole::<BL>())*
            }
            #[inline_on_device]
            fn start<BL: Block>(self, target: Address) -> Self::Start {
                let mut next = 0;
                ($({
                    let own = threads::offset(target, next);
                    next += $stage::ROOM;
                    let _ = next;
                    self.$index.start::<BL>(own)
                },)*)
            }
            #[inline_on_device]
            unsafe fn copy_from<BL: Block>(start: Self::Start) {
                $(
                    // SAFETY: as above.
                    unsafe { $tile::copy_from::<BL>(start.$index) };
                )*
            }
            #[inline_on_device]
            unsafe fn copy_with_edges<BL: Block>(self, target: Address) {
                let mut next = 0;
                $(
                    let own = threads::offset(target, next);
                    // SAFETY: as above.
                    unsafe {
                        if self.$index.are_whole::<BL>() {
                            $tile::copy_from::<BL>(self.$index.start::<BL>(own));
                        } else {
                            self.$index.copy_with_edges::<BL>(own);
                        }
                    }
                    next += $stage::ROOM;
                )*
                let _ = next;
            }
        }
    )* };
}
fills! { A X 0; A X 0 B Y 1; A X 0 B Y 1 C Z 2; A X 0 B Y 1 C Z 2 E W 3; }

/// No element has a coordinate from here on. The value is far from the largest number, as TMA's coordinates are signed.
const BEYOND: u32 = 1 << 31;

/// Tiles side by side along one axis of a [`TmaLoad`].
pub struct LoadTiles<T: Element, S> {
    tile: LoadTile<T, S>,
    row_step: u32,
    column_step: u32,
    count: u32,
}

impl<T: Element, S> Clone for LoadTiles<T, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T: Element, S> Iterator for LoadTiles<T, S> {
    type Item = LoadTile<T, S>;
    #[inline_on_device]
    fn next(&mut self) -> Option<LoadTile<T, S>> {
        if self.count == 0 {
            return None;
        }
        self.count -= 1;
        let tile = self.tile;
        self.tile.row = tile.row.wrapping_add(self.row_step);
        self.tile.column = tile.column.wrapping_add(self.column_step);
        Some(tile)
    }
    #[inline_on_device]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count as usize, Some(self.count as usize))
    }
}

impl<T: Element, S> ExactSizeIterator for LoadTiles<T, S> {}

impl<T: Element, R: Dimension, C: Dimension> TmaLoad<T, (R, C)> {
    const TILE: (u32, u32) = (R::LENGTH as u32, C::LENGTH as u32);

    /// The numbers of tiles along the rows' axis and along the columns' axis, partial tiles at the edges included.
    #[inline_on_device]
    pub fn tile_counts(&self) -> (u32, u32) {
        let (rows, columns) = const { Self::TILE };
        (self.rows().div_ceil(rows), self.columns().div_ceil(columns))
    }

    /// The tile in row `i` and column `j` of tiles of matrix `batch`. Elements outside the tensor are zero.
    #[inline_on_device]
    pub fn tile_of(&self, batch: u32, i: u32, j: u32) -> LoadTile<T, (R, C)> {
        let (rows, columns) = const { Self::TILE };
        // A matrix has fewer rows and columns than `BEYOND`.
        let (row, column) = (i.min(BEYOND / rows) * rows, j.min(BEYOND / columns) * columns);
        LoadTile {
            matrix: self.matrix,
            batch,
            row,
            column,
            unset: [false; 2],
            kept: false,
            owned: Owned::BY_ALL,
            shape: PhantomData,
        }
    }

    /// The tile in row `i` and column `j` of tiles. Elements outside the tensor are zero.
    #[inline_on_device]
    pub fn tile(&self, i: u32, j: u32) -> LoadTile<T, (R, C)> {
        self.tile_of(0, i, j)
    }

    /// The tiles of row `i` of matrix `batch`, from left to right.
    #[inline_on_device]
    pub fn row_of(&self, batch: u32, i: u32) -> LoadTiles<T, (R, C)> {
        let step = const { Self::TILE }.1;
        LoadTiles {
            tile: self.tile_of(batch, i, 0),
            row_step: 0,
            column_step: step,
            count: self.tile_counts().1,
        }
    }

    /// The tiles of row `i`, from left to right.
    #[inline_on_device]
    pub fn row(&self, i: u32) -> LoadTiles<T, (R, C)> {
        self.row_of(0, i)
    }

    /// The tiles of column `j` of matrix `batch`, from top to bottom.
    #[inline_on_device]
    pub fn column_of(&self, batch: u32, j: u32) -> LoadTiles<T, (R, C)> {
        let step = const { Self::TILE }.0;
        LoadTiles {
            tile: self.tile_of(batch, 0, j),
            row_step: step,
            column_step: 0,
            count: self.tile_counts().0,
        }
    }

    /// The tiles of column `j`, from top to bottom.
    #[inline_on_device]
    pub fn column(&self, j: u32) -> LoadTiles<T, (R, C)> {
        self.column_of(0, j)
    }
}

sealed! { [T: Element, S] LoadTile<T, S>; }
