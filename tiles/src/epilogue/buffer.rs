//! The epilogue buffer: panels of a tile on their way through shared memory to global memory, by TMA.

use crate::arch::matrix::{WARPGROUPS, store_matrices_4, store_matrices_4_transposed};
use crate::arch::threads::{self, Address};
use crate::arch::{barriers, bulk, execution};
use crate::element::Element;
use crate::element::packed::packed_pair;
use crate::epilogue::ragged::{ROWS as ROWS_OF_WARP, RaggedRows};
use crate::epilogue::tile::StoreTile;
use crate::layout::{Accumulators, Block, Layout, WARPGROUP};
use crate::memory::shared::SharedMemory;
use crate::memory::shared_tile::{CHUNK_BYTES, Geometry};
use crate::memory::tensor_map::TmaStore;
use crate::registers::{PowerOfTwo, Registers};
use crate::shape::Dimension;
use crate::simt::shared::{load_element, store_element};
use crate::tile::Tile;
use crate::view::transfer;
use core::marker::PhantomData;

/// Rows that a warpgroup stores at once.
const BOX_ROWS: usize = 64;
/// Rows of transposed accumulators that `stmatrix` stores at once.
const MATRIX_ROWS: usize = 16;
/// Bytes of a row of a buffer.
const ROW_BYTES: usize = 128;
/// Buffers of each warpgroup: one is filled while TMA reads the other.
const BUFFERS: usize = 2;
/// The first of the block's named barriers that warpgroups use among themselves.
const FIRST_BARRIER: u32 = 2;

/// The epilogue buffers through which the warpgroups of a block store tiles: for each of its `WARPGROUPS` warpgroups two panels of `PANEL_ROWS` rows
/// of 128 bytes, 16 KiB.
///
/// Panels of 16 or 32 rows leave more shared memory to the ring. They are for [transposed accumulators](Tile::transposed_accumulators) alone, with
/// [`Padded`](crate::shape::Padded) rows: TMA stores 16 or 32 of those at once.
///
/// A kernel takes it as an argument, `#[shared] buffer: EpilogueBuffer<2>` in a block of 256 threads. On targets without TMA it
/// has no bytes. A kernel without one stores its tiles by [`StoreTile::store_directly`].
#[doc(alias("CollectiveEpilogue"))]
pub struct EpilogueBuffer<const WARPGROUPS: usize, const PANEL_ROWS: usize = 64> {
    address: Address,
    local: PhantomData<*const ()>,
}

// SAFETY: the memory at the address has room for the buffers.
unsafe impl<const WARPGROUPS: usize, const PANEL_ROWS: usize> SharedMemory
    for EpilogueBuffer<WARPGROUPS, PANEL_ROWS>
{
    const BYTES: [u32; 3] = {
        assert!(
            matches!(PANEL_ROWS, 16 | 32 | 64),
            "the panels of an epilogue buffer have 16, 32 or 64 rows: `EpilogueBuffer<2>` has 64"
        );
        assert!(
            WARPGROUPS > 0,
            "an epilogue buffer has at least one warpgroup's part: a kernel without one calls `store_directly`"
        );
        [0, 0, (WARPGROUPS * BUFFERS * PANEL_ROWS * ROW_BYTES) as u32]
    };
    type Storage = ();
    #[inline(always)]
    unsafe fn new(address: Address) -> Self {
        Self { address, local: PhantomData }
    }
}

/// The part of a buffer that belongs to a warpgroup.
struct Part {
    own: Address,
    /// The warpgroup's number, in the CTA and in the block.
    group: u32,
    in_block: u32,
    /// The thread of the block.
    thread: usize,
}

impl<const WARPGROUPS: usize, const PANEL_ROWS: usize> EpilogueBuffer<WARPGROUPS, PANEL_ROWS> {
    /// The part of this thread's warpgroup.
    #[inline(always)]
    fn part<B: Block>(&self) -> Part {
        // Addresses must not take registers while multiplications are under way.
        let thread = execution::rematerialise(execution::thread() as u32) as usize;
        // SAFETY: all threads of the block run this alike.
        let in_block = unsafe { execution::from_lane((thread / WARPGROUP) as u32, 0) };
        let in_a_block = const { <B::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        // The blocks of a CTA have barriers and parts of the buffer for themselves.
        let group =
            if B::CONSUMERS > 1 { execution::consumer() * in_a_block as u32 + in_block } else { in_block };
        let own = threads::offset(self.address, group as usize * BUFFERS * PANEL_ROWS * ROW_BYTES);
        Part { own, group, in_block, thread }
    }
}

/// A panel of a tile on its way to the matrix: up to 64 rows that a warpgroup stores at once, as one of its threads sees them.
#[derive(Clone, Copy)]
struct Panel<'g> {
    /// The geometry of the panel in the buffer.
    geometry: &'g Geometry,
    rows: usize,
    columns: usize,
    /// Whether the registers hold its transpose.
    is_transposed: bool,
    buffer: Address,
    /// Whether it is the first panel of its rows.
    is_first: bool,
    /// The panel's first column and row in the matrix.
    x: u32,
    y: u32,
    /// The warpgroup, and the thread of the block.
    group: u32,
    thread: usize,
}

impl Panel<'_> {
    /// The most rows that a warp of the warpgroup stores by threads: 16, or a quarter of a small panel's.
    #[inline(always)]
    const fn rows_of_warp(&self) -> usize {
        if self.rows > 2 * ROWS_OF_WARP { ROWS_OF_WARP } else { self.rows / 4 }
    }

    /// The warp of the warpgroup, which holds 16 of the rows, or 16 columns of a transposed panel.
    #[inline(always)]
    fn warp(&self) -> usize {
        self.thread / 32 % 4
    }

    #[inline(always)]
    fn lane(&self) -> usize {
        self.thread % 32
    }

    /// The row of the matrix behind the panel, if the rows of the tile end at `end`.
    #[inline(always)]
    fn end_of_rows(&self, end: u32) -> u32 {
        if self.rows < BOX_ROWS { end.min(self.y + self.rows as u32) } else { end }
    }
}

impl<T: Element, M: Dimension, N: Dimension> StoreTile<T, (M, N)> {
    /// Whether tiles of this shape can go through a buffer, in a block of so many warpgroups.
    pub(super) const fn through_buffer(warpgroups: usize) -> bool {
        WARPGROUPS
            && warpgroups > 0
            && Self::ROWS >= BOX_ROWS * warpgroups
            && Self::ROWS == <M::Count as PowerOfTwo>::COUNT
            && Self::COLUMNS * size_of::<T::Bits>() >= 2 * CHUNK_BYTES
            && Self::COLUMNS >= 8
    }

    #[inline(always)]
    pub(super) fn store_through_buffer<B: Block, const GROUPS: usize, const PANEL_ROWS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), Accumulators<B>>,
    ) {
        let columns = const { TmaStore::<T, (M, N)>::BOX.columns as usize };
        let geometry = const {
            Geometry::new(BOX_ROWS, TmaStore::<T, (M, N)>::BOX.columns as usize, size_of::<T::Bits>())
        };
        let in_a_block = const { <B::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        let Part { own, group, in_block, thread } = buffer.part::<B>();
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32 + in_block * BOX_ROWS as u32, j * Self::COLUMNS as u32);
        // Nor must this number.
        let tma_columns = execution::rematerialise(self.tma_columns());
        let [panels, padded] = const {
            let columns = TmaStore::<T, (M, N)>::BOX.columns as usize;
            [Self::COLUMNS / columns, <N::Count as PowerOfTwo>::COUNT / columns]
        };
        // Panel after panel: the registers of each lie behind those of the one before.
        <Accumulators<B> as Layout>::Registers::<(M, N)>::unroll(0, columns / 2, &mut |register| {
            let number = register / (columns / 2);
            let (row_block, panel) = (number / padded, number % padded);
            if panel >= panels {
                return;
            }
            let panel = Panel {
                geometry: &geometry,
                rows: BOX_ROWS,
                columns,
                is_transposed: false,
                buffer: threads::offset(own, number % BUFFERS * BOX_ROWS * ROW_BYTES),
                is_first: panel == 0,
                x: column + (panel * columns) as u32,
                y: row + (row_block * BOX_ROWS * in_a_block) as u32,
                group,
                thread,
            };
            // SAFETY: all threads of the warpgroup run this alike. The buffer is the warpgroup's, and consecutive panels of a row of panels
            // use different ones.
            unsafe { self.store_panel(panel, tile.registers(), register, tma_columns) }
        });
    }

    /// Whether transposed accumulators of this shape can go through a buffer of panels of `panel_rows` rows, in a block of so many warpgroups: each has
    /// panels of 64 columns, and a panel has whole boxes of TMA.
    pub(super) const fn transposed_through_buffer(warpgroups: usize, panel_rows: usize) -> bool {
        WARPGROUPS
            && warpgroups > 0
            && Self::COLUMNS.is_multiple_of(BOX_ROWS * warpgroups)
            && Self::ROWS.is_multiple_of(MATRIX_ROWS)
            && TmaStore::<T, (M, N)>::BOX.rows as usize <= panel_rows
            && size_of::<T::Bits>() == 2
    }

    /// [`store_through_buffer`](Self::store_through_buffer) for transposed accumulators: all rows of a warpgroup's first 64 columns, `PANEL_ROWS` at a time,
    /// then those of its next ones.
    #[inline(always)]
    pub(super) fn store_transposed_through_buffer<L: Layout, const GROUPS: usize, const PANEL_ROWS: usize>(
        &self,
        buffer: &mut EpilogueBuffer<GROUPS, PANEL_ROWS>,
        tile: Tile<T, (M, N), L>,
    ) {
        let geometry = const { Geometry::new(PANEL_ROWS, BOX_ROWS, size_of::<T::Bits>()) };
        let in_a_block = const { <<L::Block as Block>::Threads as PowerOfTwo>::COUNT.div_ceil(WARPGROUP) };
        let Part { own, group, in_block, thread } = buffer.part::<L::Block>();
        let [_, i, j] = self.index;
        let (row, column) = (i * Self::ROWS as u32, j * Self::COLUMNS as u32 + in_block * BOX_ROWS as u32);
        // Nor must this number.
        let tma_columns = execution::rematerialise(self.tma_columns());
        // A thread has two rows of every 8, for each of two columns.
        let padded = const { <M::Count as PowerOfTwo>::COUNT };
        L::Registers::<(M, N)>::unroll(0, PANEL_ROWS / 2, &mut |register| {
            let (block, first) = (2 * register / padded, 2 * register % padded);
            if first >= Self::ROWS {
                return;
            }
            let panel = Panel {
                geometry: &geometry,
                rows: PANEL_ROWS.min(Self::ROWS - first),
                columns: BOX_ROWS,
                is_transposed: true,
                buffer: threads::offset(own, first / PANEL_ROWS % BUFFERS * PANEL_ROWS * ROW_BYTES),
                is_first: first == 0,
                x: column + (block * BOX_ROWS * in_a_block) as u32,
                y: row + first as u32,
                group,
                thread,
            };
            // SAFETY: all threads of the warpgroup run this alike. The buffer is the warpgroup's, and consecutive panels use different ones.
            unsafe { self.store_panel(panel, tile.registers(), register, tma_columns) }
        });
    }

    /// Stores a panel whose registers begin at `first`; TMA stores the matrix's first `tma_columns` columns.
    ///
    /// # Safety
    /// All threads of the warpgroup execute this same call. The buffer belongs to the warpgroup. It differs from the buffer of the panel
    /// before, if that one is in the same row of panels.
    #[inline(always)]
    unsafe fn store_panel<C: PowerOfTwo>(
        &self,
        panel: Panel<'_>,
        registers: &Registers<T, C>,
        first: usize,
        tma_columns: u32,
    ) {
        let Panel { columns, buffer, is_first, x, y, group, .. } = panel;
        let issues = panel.thread.is_multiple_of(WARPGROUP);
        // A panel that begins behind TMA's columns has none of them.
        let by_tma = x < tma_columns;
        // SAFETY: all threads of the warpgroup run this alike, and one thread issues all its stores by TMA. A buffer is written
        // when its last store has read it and no thread reads it any more, as the barrier says behind which the other buffer
        // was written. It is stored when all threads have written it and fenced, to columns that are multiples of a panel's
        // bytes.
        unsafe {
            if issues {
                // The panel before may still be read, if it was stored by TMA and is in the other buffer: if it is in the same row.
                if by_tma && !is_first {
                    bulk::wait_for_reads::<{ BUFFERS - 1 }>();
                } else {
                    bulk::wait_for_reads::<0>();
                }
            }
            execution::named_barrier(FIRST_BARRIER + group, WARPGROUP as u32);
            Self::write_panel(panel, registers, first);
            if by_tma {
                barriers::fence_proxy_async();
            }
            execution::named_barrier(FIRST_BARRIER + group, WARPGROUP as u32);
            if by_tma && issues {
                let map = self.operand.matrix.map.cast();
                bulk::store(map, buffer, [x, y, self.index[0]]);
                // A loop over all boxes, also over a single one, cost registers.
                let mut row = const { TmaStore::<T, (M, N)>::BOX.rows as usize };
                while row < panel.rows {
                    let source = threads::offset(buffer, row * panel.geometry.panel_bytes);
                    bulk::store(map, source, [x, y + row as u32, self.index[0]]);
                    row += const { TmaStore::<T, (M, N)>::BOX.rows as usize };
                }
                bulk::commit_stores();
            }
            // Threads store the rest: the whole panel or, in one of a row's panels, the columns of its last chunk.
            let first = tma_columns.saturating_sub(x);
            if !by_tma {
                self.ragged_rows(panel).store(panel.lane());
            } else if first < columns as u32 && tma_columns < self.operand.matrix.layout.columns {
                self.copy_columns(panel, first);
            }
        }
    }

    /// Writes this warp's 16 rows of a panel, or 16 columns of a transposed one, whose registers begin at `first`, to its buffer.
    ///
    /// # Safety
    /// The buffer has room for the panel, and no other thread accesses these rows or columns.
    #[inline(always)]
    unsafe fn write_panel<C: PowerOfTwo>(panel: Panel<'_>, registers: &Registers<T, C>, first: usize) {
        let Panel { geometry, columns, buffer, .. } = panel;
        let (warp, lane) = (panel.warp(), panel.lane());
        let size = const { size_of::<T::Bits>() };
        // SAFETY: elements of two bytes, as asked before each call.
        let word = |i: usize| unsafe { packed_pair(registers.get(i), registers.get(i + 1)) };
        if panel.is_transposed {
            let mut sixteen = 0;
            while sixteen < panel.rows / MATRIX_ROWS {
                let at = first + sixteen * 8;
                let row = 16 * sixteen + lane / 16 * 8 + lane % 8;
                let place = geometry.offset(row, (2 * warp + lane / 8 % 2) * CHUNK_BYTES);
                // SAFETY: the same contract; elements of transposed panels have two bytes.
                unsafe {
                    store_matrices_4_transposed(
                        threads::word(threads::offset(buffer, place)),
                        [0, 2, 4, 6].map(|k| word(at + k)),
                    )
                };
                sixteen += 1;
            }
            return;
        }
        if size == 2 && columns >= 16 {
            let mut sixteen = 0;
            while sixteen < columns / 16 {
                let at = first + sixteen * 8;
                let place = geometry.offset(16 * warp + lane % 16, (2 * sixteen + lane / 16) * CHUNK_BYTES);
                // SAFETY: the same contract.
                unsafe {
                    store_matrices_4(
                        threads::word(threads::offset(buffer, place)),
                        [0, 2, 4, 6].map(|k| word(at + k)),
                    )
                };
                sixteen += 1;
            }
            return;
        }
        let mut eight = 0;
        while eight < columns / 8 {
            let mut half = 0;
            while half < 2 {
                let (row, column) = (16 * warp + 8 * half + lane / 4, 8 * eight + lane % 4 * 2);
                let at = first + 4 * eight + 2 * half;
                let mut k = 0;
                while k < 2 {
                    let place = threads::offset(buffer, geometry.offset(row, (column + k) * size));
                    // SAFETY: the same contract.
                    unsafe { store_element(place, registers.get(at + k)) };
                    k += 1;
                }
                half += 1;
            }
            eight += 1;
        }
    }

    /// This warp's rows of a panel in its buffer, and their target in the matrix.
    #[inline(always)]
    fn ragged_rows<'g>(&self, panel: Panel<'g>) -> RaggedRows<'g, T> {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let (warp, end_of_rows) = (panel.warp(), panel.end_of_rows(self.end_of_rows()));
        // Values that panels have in common must not take registers from one panel to the next.
        let ([x, y], warp) =
            ([x, y].map(execution::rematerialise), execution::rematerialise(warp as u32) as usize);
        let layout = &self.operand.matrix.layout;
        let (rows, first) = (panel.rows_of_warp(), panel.rows_of_warp() * warp);
        let y = y + first as u32;
        let inside = end_of_rows.saturating_sub(y);
        // Fewer than 16 rows have others behind them that are not this warp's.
        let inside = if rows < ROWS_OF_WARP { inside.min(rows as u32) } else { inside };
        let inside = [inside, layout.columns.saturating_sub(x)];
        let target = self.element(y, x);
        RaggedRows {
            geometry,
            buffer,
            first,
            rows,
            target,
            pitch: layout.row_pitch,
            inside,
            element: PhantomData,
        }
    }

    /// Copies the columns of a chunk, from `first` on, of this warp's rows of a panel from the buffer to the matrix, except
    /// for elements outside the matrix.
    ///
    /// # Safety
    /// The panel has the columns and is in the buffer. The rows and columns belong to this tile.
    #[inline(always)]
    unsafe fn copy_columns(&self, panel: Panel<'_>, first: u32) {
        let Panel { geometry, buffer, x, y, .. } = panel;
        let (warp, lane) = (panel.warp(), panel.lane());
        let (layout, end_of_rows) = (&self.operand.matrix.layout, panel.end_of_rows(self.end_of_rows()));
        // A loop, not a copy of its body: registers are short here.
        let rows = panel.rows_of_warp();
        let (mut number, count) = (lane, execution::opaque((rows * Self::GRANULE) as u32) as usize);
        while number < count {
            let (row, column) =
                (rows * warp + number / Self::GRANULE, first as usize + number % Self::GRANULE);
            let (y, x) = (y + row as u32, x + column as u32);
            let inside = y < end_of_rows && x < layout.columns;
            let place = threads::offset(buffer, geometry.offset(row, column * size_of::<T::Bits>()));
            // SAFETY: the place is in the panel. The element belongs to this block's own tile, and is inside the matrix
            // wherever the condition holds.
            unsafe {
                let element: T = load_element(place);
                transfer::store(self.element(y, x), 1, Some(inside), |_| element);
            }
            number += 32;
        }
    }
}
