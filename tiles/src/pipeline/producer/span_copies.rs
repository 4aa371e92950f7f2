//! Copies of tiles of spans to shared memory, by [threads](super::copiers).

use crate::arch::threads::{self, Address};
use crate::arch::{barriers, execution};
use crate::element::Element;
use crate::layout::Block;
use crate::memory::shared_tile::{ALIGNMENT, CHUNK_BYTES, SharedTile, SharedTileShape};
use crate::memory::span_tile::{SpanTile, Width};
use crate::pipeline::producer::copiers::{Copiers, ThreadsOfBlock};
use crate::pipeline::producer::sharing::PlaceInCluster;
use crate::pipeline::producer::stage_load::{StageLoad, by_columns, chunks};
use crate::registers::PowerOfTwo;
use crate::shape::Dimension;
use crate::view::transfer::{self, Cache, Words};

impl<T: Element, R: Dimension, C: Dimension> StageLoad<SharedTile<T, (R, C)>> for SpanTile<T, (R, C)> {
    const BY_THREADS: bool = true;

    #[inline_on_device]
    fn of_block(self, _block: [u32; 2]) -> Self {
        self
    }

    #[inline_on_device]
    unsafe fn copy_by_tma<B: Block>(self, _target: Address, _full: Address, _producer: PlaceInCluster) {}

    #[inline_on_device]
    fn bytes_by_tma<B: Block>(&self) -> u32 {
        0
    }

    #[inline_on_device]
    #[track_caller]
    unsafe fn copy_by_producers<X: Copiers>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe { self.copy_by::<X>(target) }
    }

    type Start = ();

    #[inline_on_device]
    fn are_whole<B: Block>(&self) -> bool {
        false
    }

    #[inline_on_device]
    fn start<B: Block>(self, _target: Address) {}

    #[inline_on_device]
    unsafe fn copy_from<B: Block>((): ()) {}

    #[inline_on_device]
    #[track_caller]
    unsafe fn copy_with_edges<B: Block>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe { self.copy_by::<ThreadsOfBlock<B>>(target) }
    }
}

impl<T: Element, R: Dimension, C: Dimension> SpanTile<T, (R, C)> {
    /// Whether all of the tile is inside the tensor.
    #[inline_on_device]
    fn is_whole(&self) -> bool {
        let size = const { [<R::Count as PowerOfTwo>::COUNT as u32, <C::Count as PowerOfTwo>::COUNT as u32] };
        self.missing == [0, 0] && self.inside == size
    }

    /// Starts to copy a tile: each of the threads its part, by `cp.async` or by ordinary stores. Elements outside the tensor become zero.
    ///
    /// # Safety
    /// All of the threads execute this same call. There is room for the tile at `target`. Nobody accesses it before all of them have waited
    /// for their copies.
    #[inline_on_device]
    #[track_caller]
    pub(crate) unsafe fn copy_by<X: Copiers>(self, target: Address) {
        self.run.assert_lent("a tile of a span");
        let words = const { by_columns::<T, R, C, X>(Self::WORD_BYTES) };
        // SAFETY: the same contract; the width is the tile's.
        unsafe {
            match self.width.get() {
                Width::Chunks if const { by_columns::<T, R, C, X>(CHUNK_BYTES) } => {
                    self.copy_columns::<X, CHUNK_BYTES>(target)
                }
                Width::Words if words && const { Self::WORD_BYTES == 8 } => self.copy_columns::<X, 8>(target),
                Width::Words if words => self.copy_columns::<X, 4>(target),
                _ => self.copy_what_is_inside::<X>(target),
            }
        }
    }

    /// Starts to copy a tile, each thread a column of units of `UNIT` bytes. Elements outside the tensor become zero.
    ///
    /// # Safety
    /// As for [`copy_by`](Self::copy_by). Rows are aligned units. The threads copy whole rows at once.
    #[inline_on_device]
    unsafe fn copy_columns<X: Copiers, const UNIT: usize>(self, target: Address) {
        // SAFETY: the same contract.
        unsafe {
            if self.is_whole() {
                self.copy_units::<X, UNIT, true>(target);
            } else {
                self.copy_units::<X, UNIT, false>(target);
            }
        }
    }

    /// Starts to copy a tile, which is `WHOLE` or has elements outside the tensor.
    ///
    /// # Safety
    /// As for [`copy_columns`](Self::copy_columns).
    #[inline_on_device]
    unsafe fn copy_units<X: Copiers, const UNIT: usize, const WHOLE: bool>(self, target: Address) {
        let geometry = const { &<SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY };
        let size = const { size_of::<T::Bits>() };
        let row_units = const { <C::Count as PowerOfTwo>::COUNT * size_of::<T::Bits>() / UNIT };
        let rows = const { X::THREADS } / row_units;
        let (thread, all_rows) = (X::thread(), const { <R::Count as PowerOfTwo>::COUNT });
        // The loop for edges must not be unrolled, and nothing of it may be kept in registers elsewhere: most tiles are whole.
        let (thread, all_rows) = if WHOLE {
            (thread, all_rows)
        } else {
            (
                execution::rematerialise(thread as u32) as usize,
                execution::rematerialise(all_rows as u32) as usize,
            )
        };
        let (row, from) = (thread / row_units, thread % row_units * UNIT);
        let own = geometry.offset(row, from);
        let mut source = self.origin.wrapping_add(row * self.pitch + from);
        // The bytes of the thread's column that are inside the tensor. The part before the tensor is a number of whole units.
        let (start, end) = (self.missing[1] as usize * size, self.inside[1] as usize * size);
        let bytes = if start <= from { end.saturating_sub(from).min(UNIT) as u32 } else { 0 };
        let rows_inside = self.inside[0].saturating_sub(self.missing[0]);
        let mut first = 0;
        while first < all_rows {
            // Where the swizzle repeats after these rows, a constant goes into the instruction.
            let place = if rows * geometry.panel_bytes % const { ALIGNMENT } == 0 {
                own + first * geometry.panel_bytes
            } else {
                own ^ geometry.offset(first, 0)
            };
            let place = threads::offset(target, place);
            let has_row = ((row + first) as u32).wrapping_sub(self.missing[0]) < rows_inside;
            let bytes = if has_row { bytes } else { 0 };
            // An address that is not read is the tensor's, too.
            let inside = if bytes == 0 { self.tensor } else { source };
            // SAFETY: the first `bytes` bytes are elements of the tensor, which are neighbours and aligned; of a whole tile, all are.
            // Places are linear in the bits of rows and columns; the target has room by the caller's contract. Each unit has one thread.
            unsafe {
                match UNIT {
                    CHUNK_BYTES if WHOLE => barriers::copy_16_whole(place, source),
                    CHUNK_BYTES => barriers::copy_16(place, inside, bytes),
                    8 if WHOLE => barriers::copy_8(place, source, 8),
                    8 => barriers::copy_8(place, inside, bytes),
                    _ if WHOLE => barriers::copy_4(place, source, 4),
                    _ => barriers::copy_4(place, inside, bytes),
                }
            }
            source = source.wrapping_add(self.pitch * rows);
            first += rows;
        }
    }

    /// Starts to copy the elements of any tile that are inside the tensor, and makes the others zero.
    ///
    /// # Safety
    /// As for [`copy_by`](Self::copy_by).
    #[inline_on_device]
    unsafe fn copy_what_is_inside<X: Copiers>(self, target: Address) {
        let geometry = const { &<SharedTile<T, (R, C)> as SharedTileShape>::GEOMETRY };
        let (row_chunks, all) = const { chunks::<T, R, C>() };
        let size = const { size_of::<T::Bits>() };
        let [rows, columns] = self.inside;
        let [first_row, first_column] = self.missing;
        // The loop must not be unrolled, and nothing of it may be kept in registers elsewhere: most tiles are whole.
        let mut number = execution::rematerialise(X::thread() as u32) as usize;
        while number < execution::rematerialise(all as u32) as usize {
            let (row, chunk) = (number / row_chunks, number % row_chunks);
            let place = threads::offset(target, geometry.offset(row, chunk * CHUNK_BYTES));
            let source = self.origin.wrapping_add(row * self.pitch);
            let has_row = first_row <= row as u32 && (row as u32) < rows;
            // The bytes from byte `from` of the row on that are inside, at most `count`; of whole units alone. The part before the tensor
            // is a number of whole units.
            let bytes = |from: usize, count: usize| {
                let (start, end) = (first_column as usize * size, columns as usize * size);
                if has_row && start <= from { end.saturating_sub(from).min(count) as u32 } else { 0 }
            };
            // An address that is not read is the tensor's, too.
            let address = |from: usize, bytes: u32| {
                if bytes == 0 { self.tensor } else { source.wrapping_add(from) }
            };
            let from = chunk * CHUNK_BYTES;
            match self.width.get() {
                Width::Chunks => {
                    let bytes = bytes(from, CHUNK_BYTES);
                    // SAFETY: the first `bytes` bytes are elements of the tensor, which are neighbours and aligned. The target has room
                    // by the caller's contract. Each chunk has one thread.
                    unsafe { barriers::copy_16(place, address(from, bytes), bytes) };
                }
                Width::Words => {
                    let mut word = 0;
                    while word < CHUNK_BYTES {
                        let bytes = bytes(from + word, Self::WORD_BYTES);
                        let (target, source) = (threads::offset(place, word), address(from + word, bytes));
                        // SAFETY: as above.
                        unsafe {
                            if const { Self::WORD_BYTES == 8 } {
                                barriers::copy_8(target, source, bytes);
                            } else {
                                barriers::copy_4(target, source, bytes);
                            }
                        }
                        word += Self::WORD_BYTES;
                    }
                }
                Width::Elements => {
                    let Words(words) = Words::from_elements(CHUNK_BYTES / size, |k| {
                        let column = from / size + k;
                        let inside = has_row && first_column as usize <= column && column < columns as usize;
                        let mut element = T::ZERO;
                        // SAFETY: an element inside the tensor is loaded, and aligned to itself. Nothing writes it during the kernel.
                        unsafe {
                            let address = source.wrapping_add(column * self.step).cast();
                            transfer::load(
                                address,
                                1,
                                Cache::Constant,
                                Some(inside),
                                T::ZERO,
                                |_, loaded| element = loaded,
                            );
                        }
                        element
                    });
                    let mut word = 0;
                    while word < 4 {
                        // SAFETY: as above.
                        unsafe { threads::store_4(threads::offset(place, 4 * word), words[word]) };
                        word += 1;
                    }
                }
            }
            number += const { X::THREADS };
        }
    }
}
